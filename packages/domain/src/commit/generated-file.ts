const generatedNames = new Set([
  'Cargo.lock',
  'Gemfile.lock',
  'Gopkg.lock',
  'composer.lock',
  'go.sum',
  'npm-shrinkwrap.json',
  'package-lock.json',
  'pnpm-lock.yaml',
  'poetry.lock',
  'yarn.lock',
])

const generatedEndings = ['.min.js', '.min.css', '.js.map', '.css.map', '.pb.go', '_pb2.py', '.designer.cs']

/** Whether the name of a file shows that a tool generates it, so that viewers may collapse its diff. */
export function isGeneratedFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return generatedNames.has(name) || generatedEndings.some((ending) => name.endsWith(ending))
}
