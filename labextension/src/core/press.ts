/** What is drawn while somebody presses a button: nothing. */

/** Milliseconds from one look to the next while a press lasts. */
const PAUSE = 20;

/**
 * A way to have things done that waits, and keeps their order, while anything below `root` is pressed. The browser tells
 * of a click only where both its ends meet the same element: one that was drawn anew between them would never hear of it.
 */
export function betweenPresses(root: HTMLElement): (act: () => void) => void {
  const waiting: (() => void)[] = [];
  const look = (): void => {
    if (root.matches(':active')) {
      setTimeout(look, PAUSE);
    } else {
      waiting.splice(0).forEach(act => act());
    }
  };
  return act => {
    if (waiting.push(act) === 1) {
      look();
    }
  };
}
