import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runExample } from '../support/delivery-loop-example.js'
import { startTree, type Tree } from '../support/tree.js'

const root = join(import.meta.dirname, '../..')

interface Step {
  commands: string
  /** The output in the README; `…` stands for any text. */
  output: string
}

/** Returns the tour's shell blocks, each with the output below it. */
function tourSteps(): Step[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const blocks = readme.matchAll(/```sh tour\n([\s\S]*?)```\n```output\n([\s\S]*?)```/g)
  return [...blocks].map(([, commands = '', output = '']) => ({ commands, output: output.trim() }))
}

const pattern = (shown: string) =>
  new RegExp(
    `^${shown
      .split('…')
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('[\\s\\S]*?')}$`,
  )

/** Returns the commands for this tree: its ports, its data folder, a separate clone. */
const adapted = (commands: string, tree: Tree, clone: string) =>
  commands
    .replaceAll('localhost:8080', `localhost:${tree.httpPort}`)
    .replaceAll('.switchyard/', `${tree.dataDir}/`)
    .replaceAll('/tmp/switchyard-tour', clone)

let tree: Tree
let scratch: string

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'tour-'))
  tree = await startTree()
})

afterAll(async () => {
  await tree?.stop()
  rmSync(scratch, { recursive: true, force: true })
})

it('the README shows the real output of the tour', async () => {
  const steps = tourSteps()
  expect(steps.length).toBeGreaterThanOrEqual(6)
  const border = '--- next step ---'
  const script = steps
    .map(({ commands }) => adapted(commands, tree, join(scratch, 'clone')))
    .join(`\necho '${border}'\n`)
  const { all } = await execa('bash', ['-c', `set -e\n${script}`], {
    all: true,
    cwd: root,
    env: { GRPC_PORT: String(tree.grpcPort), GIT_CONFIG_GLOBAL: '/dev/null' },
  })
  const printed = all.split(border).map((text) => text.trim())
  expect(printed.length).toBe(steps.length)
  for (const [index, { output }] of steps.entries()) expect(printed[index]).toMatch(pattern(output))
})

it('the tour runs the delivery loop with example data, which Ctrl-C stops and --remove removes', async () => {
  const ask = async (path: string) => {
    const response = await fetch(`${tree.url}/api/v4${path}`, {
      headers: { 'PRIVATE-TOKEN': tree.rootToken },
    })
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const example = runExample(tree, [], { SECONDS_BEFORE: '2' })
  let printed = ''
  example.all?.on('data', (text: Buffer) => {
    printed += text.toString()
  })
  await waitFor(() => printed.includes('The first comparison comes'), { what: 'both deployments' })
  const project = '/projects/root%2Fexample-delivery-loop'
  const { body } = await ask(`${project}/deployments?sort=asc`)
  expect(body).toMatchObject([
    { iid: 1, status: 'success', services: [expect.stringMatching(/^example-mail-/)] },
    { iid: 2, status: 'success', services: [expect.stringMatching(/^example-checkout-/)] },
  ])
  const [{ services }] = (body as { services: string[] }[]).slice(1) as [{ services: string[] }]
  const failed = `/sagas?service_name=${services[0]}&outcome=compensated`
  await waitFor(async () => ((await ask(failed)).body as unknown[]).length, { what: 'sagas that fail' })
  example.kill('SIGINT')
  expect(await example).toMatchObject({ exitCode: 1, all: expect.stringContaining('--remove') })
  expect((await runExample(tree, ['--remove'])).all).toContain('Removed root/example-delivery-loop.')
  expect((await ask(project)).status).toBe(404)
})
