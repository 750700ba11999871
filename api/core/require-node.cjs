// Loaded before all else, in words that any Node reads: one that knows no TypeScript would answer with a stack of its own.
const { engines } = require('../../package.json');

const needed = Number.parseInt(engines.node.replace('>=', ''), 10);
if (Number.parseInt(process.versions.node, 10) < needed) {
  process.stderr.write(
    `Faregate needs Node.js ${needed} or newer, and this is ${process.versions.node} (${process.execPath}). ` +
      'Use "make run", which brings its own, or install a newer one from https://nodejs.org.\n',
  );
  process.exit(1);
}
