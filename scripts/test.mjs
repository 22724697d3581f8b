// `npm test`: sets up, runs every layer of the tests, and ends with `N passed, N failed`.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootstrap, root, run } from '../ops/setup/bootstrap.mjs'
import { runGroup } from '../ops/setup/child-group.mjs'
import { partsThatRun } from '../ops/setup/setup-parts.mjs'
import { testFolder } from './test-folder.mjs'
import { addUp, countReport, formatTotals } from './test-totals.mjs'

/**
 * The steps run one after the other, and the layers of a step at the same time. End-to-end tests use the
 * cores that integration tests leave idle.
 */
const steps = [['unit'], ['integration', 'end-to-end']]
const node = process.execPath
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
// Tests start the same programs many times, so Node keeps their compiled code there.
const compiled = join(root, 'node_modules', '.cache', 'compiled')

/**
 * Returns the wrapper of a layer. Integration tests get temporary servers; end-to-end tests start their own;
 * unit tests need none.
 */
const wrapperOf = (layer) => (layer === 'integration' ? [join(root, 'scripts', 'with-infra.mjs'), node] : [])

/**
 * Returns the variables of a layer. `TMPDIR` of end-to-end tests is the data folder, because their programs
 * keep their data there.
 */
const envOf = (layer, dataFolder) => ({
  NODE_COMPILE_CACHE: compiled,
  ...process.env,
  ...(layer === 'end-to-end' ? { TMPDIR: dataFolder } : {}),
})

/**
 * Runs layers at the same time, and returns their totals. The output of the first layer is shown at once, and
 * the output of the others when all have ended.
 */
async function runTogether(layers, folders, stop) {
  const held = layers.map(() => [])
  const holderOf = (index) => (index === 0 ? undefined : (chunk) => void held[index].push(chunk))
  // All layers end before this rejects, because the data folder is deleted then.
  const results = await Promise.allSettled(
    layers.map((layer, index) => runLayer(layer, folders, stop, holderOf(index))),
  )
  for (const [index, layer] of layers.entries()) {
    if (index > 0) console.log(`\n${layer} tests`)
    process.stdout.write(Buffer.concat(held[index]))
  }
  const failure = results.find(({ status }) => status === 'rejected')
  if (failure) throw failure.reason
  return results.map(({ value }) => value)
}

/** Runs one layer and returns its totals. Further arguments of this script go to vitest. */
async function runLayer(layer, { reportFolder, dataFolder }, stop, onOutput) {
  const reportFile = join(reportFolder, `${layer}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const args = [...wrapperOf(layer), vitest, 'run', '--project', layer, '--passWithNoTests', ...reporters]
  if (!onOutput) console.log(`\n${layer} tests`)
  const code = await runGroup([node, ...args, ...process.argv.slice(2)], stop, {
    cwd: root,
    env: envOf(layer, dataFolder),
    onOutput,
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
    for (const layers of steps) counts.push(...(await runTogether(layers, folders, stop)))
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
