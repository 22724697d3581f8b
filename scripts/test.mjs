// `npm test`: sets up, runs every layer of the tests, and ends with `N passed, N failed`.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootstrap, root, run } from '../ops/setup/bootstrap.mjs'
import { runGroup } from '../ops/setup/child-group.mjs'
import { partsThatRun } from '../ops/setup/setup-parts.mjs'
import { testFolder } from './test-folder.mjs'
import { addUp, countReport, formatTotals } from './test-totals.mjs'

const layers = ['unit', 'integration', 'end-to-end']
const node = process.execPath
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
// Tests start the same programs many times: Node keeps their compiled code there.
const compiled = join(root, 'node_modules', '.cache', 'compiled')

/** Integration tests get throw-away servers; end-to-end tests start their own; unit tests need none. */
const wrapperOf = (layer) => (layer === 'integration' ? [join(root, 'scripts', 'with-infra.mjs'), node] : [])

/** The variables of a layer. What end-to-end tests start keeps its data in the folder of temporary files. */
const envOf = (layer, dataFolder) => ({
  NODE_COMPILE_CACHE: compiled,
  ...process.env,
  ...(layer === 'end-to-end' ? { TMPDIR: dataFolder } : {}),
})

/** Runs one layer and returns its totals. Further arguments of this script go to vitest. */
async function runLayer(layer, { reportFolder, dataFolder }, stop) {
  const reportFile = join(reportFolder, `${layer}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const args = [...wrapperOf(layer), vitest, 'run', '--project', layer, '--passWithNoTests', ...reporters]
  console.log(`\n${layer} tests`)
  const code = await runGroup([node, ...args, ...process.argv.slice(2)], stop, {
    cwd: root,
    env: envOf(layer, dataFolder),
  })
  stop.throwIfAborted()
  return countReport(layer, readReport(reportFile), code)
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

await run(async (stop) => {
  await bootstrap(stop, { names: partsThatRun(root), withTools: true })
  const folders = {
    reportFolder: mkdtempSync(join(tmpdir(), 'switchyard-reports-')),
    dataFolder: mkdtempSync(join(testFolder(), 'switchyard-data-')),
  }
  // Under root, PostgreSQL runs as another user, who must be able to enter this folder.
  chmodSync(folders.dataFolder, 0o711)
  try {
    const counts = []
    for (const layer of layers) counts.push(await runLayer(layer, folders, stop))
    const totals = addUp(counts)
    console.log('')
    for (const failure of totals.failures) console.log(`✗ ${failure}`)
    const line = formatTotals(totals)
    if (process.env.SWITCHYARD_TEST_TOTALS)
      writeFileSync(process.env.SWITCHYARD_TEST_TOTALS, JSON.stringify(totals))
    console.log(line)
    return totals.failed > 0 || totals.passed === 0 ? 1 : 0
  } finally {
    for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true })
  }
})
