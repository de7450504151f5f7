// Builds the widget, and the JupyterLab extension where Node.js is new enough for its bundler: npm run build
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const packages = join(here, 'node_modules');
const run = (...words) => execFileSync(process.execPath, words, { cwd: here, stdio: 'inherit' });

// The styles are text to esbuild, which leaves the room for readers in them.
const tightStyles = {
  name: 'tight-styles',
  setup(build) {
    build.onLoad({ filter: /core[/\\]style\.ts$/ }, ({ path }) => {
      const [before, css, after] = readFileSync(path, 'utf8').split('`');
      const tight = css.replace(/\/\*.*?\*\//gs, '').replace(/\s+/g, ' ').replace(/ ?([{};,]) ?/g, '$1').replace(/([\w-]+): (?=[^{}]*[;}])/g, '$1:').replace(/;}/g, '}');
      return { contents: [before, tight, after].join('`'), loader: 'ts' };
    });
  }
};
const LARGEST_WIDGET = 150_000;

async function buildWidget() {
  const { build } = await import('esbuild');
  const result = await build({
    absWorkingDir: here,
    entryPoints: ['src/widget/index.ts'],
    outfile: '../polyviz/static/widget.js',
    bundle: true,
    format: 'esm',
    minify: true,
    target: 'es2021',
    legalComments: 'none',
    metafile: true,
    plugins: [tightStyles]
  });
  const [size] = Object.values(result.metafile.outputs).map(output => output.bytes);
  if (size > LARGEST_WIDGET) {
    throw new Error(`the widget has ${size} bytes; every saved notebook may hold it, so ${LARGEST_WIDGET} is the limit`);
  }
  console.log(`polyviz/static/widget.js: ${size} bytes`);
}

function buildExtension() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.log(`The JupyterLab extension needs Node.js 20.19 or newer, and this is ${process.versions.node}: widget only.`);
    return;
  }
  const core = join(packages, '@jupyterlab', 'core-meta', 'core.package.json');
  run(join(packages, '@jupyter', 'builder', 'lib', 'build-labextension.js'), '--core-package-file', core, here);
}

run(join(packages, 'typescript', 'bin', 'tsc'));
await buildWidget();
buildExtension();
