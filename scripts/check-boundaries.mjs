// Fails when an import breaks a layer rule, and when the tool finds too few modules for a meaningful result.
import { spawnSync } from 'node:child_process'

const { stdout, stderr } = spawnSync(
  'node_modules/.bin/depcruise',
  ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'packages', 'services', 'examples'],
  { encoding: 'utf8', maxBuffer: 2 ** 28 },
)
if (!stdout.startsWith('{')) throw new Error(stderr || stdout)
const { modules, summary } = JSON.parse(stdout)

for (const { rule, from, to } of summary.violations) console.error(`✗ ${rule.name}: ${from} → ${to}`)

/** Imports that must exist, as a check of the tool itself. */
const expected = [
  ['services/git-api/', 'packages/service-kit/'],
  ['services/saga-reporter/', 'packages/domain/'],
  ['packages/db/', 'packages/domain/'],
]
const seen = ([from, to]) =>
  modules.some(
    ({ source, dependencies }) =>
      source.startsWith(from) && dependencies.some(({ resolved }) => resolved.startsWith(to)),
  )
const unseen = expected.filter((edge) => !seen(edge))
for (const [from, to] of unseen)
  console.error(`✗ no import from ${from} to ${to} was seen: the check is blind`)
if (modules.length < 100) console.error(`✗ only ${modules.length} modules were seen: the check is blind`)

console.log(`${modules.length} modules, ${summary.totalDependenciesCruised} imports`)
process.exitCode = summary.violations.length + unseen.length > 0 || modules.length < 100 ? 1 : 0
