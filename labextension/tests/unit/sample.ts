/** A model as the kernel writes it: a skewed stencil with a reduction beside it, drawn for three by three iterations. */

export function sample(): Record<string, unknown> {
  const points = [0, 1, 2].flatMap(i => [0, 1, 2].map(j => [i, j]));
  const down = points.flatMap(([i, j], number) => (i! < 2 && j! > 0 ? [[number, number + 2]] : []));
  const loop = (row: string, time: number, coincident: boolean): Record<string, unknown> => ({
    rows: { S0: row },
    coincident,
    reduction_parallel: false,
    role: 'loop',
    time,
    address: row
  });
  const node = (kind: string, extra: Record<string, unknown>): Record<string, unknown> => ({
    kind,
    label: kind,
    statements: ['S0'],
    members: [],
    permutable: false,
    time: -1,
    children: [],
    ...extra
  });
  const band = node('band', { members: [loop('i', 0, false), loop('j', 1, true)] });
  const swapped = node('band', { members: [loop('i + j', 0, true), loop('i', 1, false)] });
  return {
    v: 1,
    kind: 'inspector',
    shortened: [],
    name: 'sweep',
    text: 'def sweep(A, n):\n    for i in range(n):\n        for j in range(n):\n            A[i, j] = A[i - 1, j + 1]\n',
    context: '',
    parameters: [{ name: 'n', source: 'argument n', value: 3, low: 1, high: 24 }],
    arrays: [{ name: 'A', extents: [3, 3], element_bytes: 8 }],
    statements: [
      {
        name: 'S0',
        iterators: ['i', 'j'],
        domain: '0 <= i < n, 0 <= j < n',
        source: 'A[i, j] = A[i - 1, j + 1]',
        line: 4,
        end_line: 4,
        loop_lines: [2, 3],
        accesses: [
          { array: 'A', kind: 'read', text: 'A[i - 1, j + 1]', subscripts: [[1, 0, -1], [0, 1, 1]] },
          { array: 'A', kind: 'write', text: 'A[i, j]', subscripts: [[1, 0, 0], [0, 1, 0]] }
        ],
        points,
        total: 9,
        notes: []
      }
    ],
    relations: [
      { kind: 'flow', array: 'A', source: 'S0', sink: 'S0', distances: ['(1, -1)'], relation: 'S0[i, j] → S0[i + 1, j - 1]', count: 4, pairs: down }
    ],
    variants: [
      { ...variant('original', node('domain', { children: [band] }), points, [0]), loops: sentences() },
      variant('skewed', node('domain', { children: [swapped] }), points.map(([i, j]) => [i! + j!, i!]), [1])
    ],
    refusals: [{ name: 'feautrier', reason: 'too many rows' }],
    loops: [
      { loop: 'i', depth: 0, statements: ['S0'], parallel: false, reduction_parallel: false, explanation: 'loop i is not parallel', witness: null }
    ],
    comparison: null,
    edit: null,
    notes: []
  };
}

function sentences(): unknown[] {
  const pair = { kind: 'flow', array: 'A', source: 'S0', source_instance: [0, 1], sink: 'S0', sink_instance: [1, 0], parameters: {}, explanation: 'S0[0, 1] before S0[1, 0]' };
  return [
    { text: 'Loop i is not parallel: S0[0, 1] before S0[1, 0].', violation: pair },
    { text: 'Loop j is parallel: no dependence ties its iterations.', violation: null }
  ];
}

function variant(name: string, tree: unknown, times: unknown, carried: readonly number[]): Record<string, unknown> {
  const program = { target: 'python', text: 'for i in x:\n    A[i, j] = 0\n', lines: { '2': 'S0' }, notes: [] };
  return { name, tree, decisions: [], times: { S0: times }, carried: [carried], program, notes: [] };
}

/** Two timed variants; `own` replaces fields of the second. */
export function comparison(own: Record<string, unknown> = {}): Record<string, unknown> {
  const row = { status: 'ok', verified: true, speedup_interval: null, note: '', is_baseline: false };
  return {
    rows: [
      { ...row, label: 'original/numba', median: 0.4, interval: [0.39, 0.41], speedup: 1, is_baseline: true },
      { ...row, label: 'pluto/c', median: 0.1, interval: [0.09, 0.12], speedup: 4, speedup_interval: [3.5, 4.5], ...own }
    ],
    baseline: 'original/numba',
    best: 'pluto/c',
    verdict: 'fastest: pluto/c',
    machine: 'a machine',
    notes: [],
    roofline: { operations: 2e9, bytes: 4e7, peak: 1e11, memory: 2e10, cache: 6e10, limit: 0.02, bottleneck: 'multiply-add peak', dtype: 'float64' }
  };
}

/** The folding part with this summary, unfolded as a person would do it. */
export function unfold(name: string): HTMLDetailsElement {
  const part = [...document.querySelectorAll('details')].find(one => one.querySelector('summary')?.textContent === name)!;
  part.open = true;
  part.dispatchEvent(new Event('toggle'));
  return part;
}
