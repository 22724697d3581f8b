import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const logger = fileURLToPath(new URL('../../src/observability/logger.ts', import.meta.url))

const run = (program: string) =>
  promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program])

it('writes the remaining lines when the process ends, and urgent lines at once', async () => {
  const program = (last: string) => `
    import { createLogger } from ${JSON.stringify(logger)}
    const logger = createLogger('test', 'info')
    logger.info('first')
    ${last}`
  const texts = ({ stdout }: { stdout: string }) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg)
  expect(texts(await run(program(`logger.info('second'); process.exit(0)`)))).toEqual(['first', 'second'])
  const killed = run(program(`logger.child({ a: 1 }).warn('second'); process.kill(process.pid, 'SIGKILL')`))
  expect(texts(await killed.catch((error) => error))).toEqual(['first', 'second'])
})

it('shows the error of a Redis command without its arguments: a password, or the payload of a job', async () => {
  const program = `
    import { createLogger } from ${JSON.stringify(logger)}
    const failed = Object.assign(new Error('WRONGPASS'), { command: { name: 'hello', args: ['3', 'AUTH', 'hunter2'] } })
    const logger = createLogger('test', 'info')
    logger.warn({ err: failed }, 'away')
    logger.warn({ err: Object.assign(new Error('no node is left'), { lastNodeError: failed }) }, 'away')
    logger.child({ source: 'jobs' }).warn(failed)`
  const { stdout } = await run(program)
  const lines = stdout.trim().split('\n')
  expect(lines.map((line) => /WRONGPASS|no node/.test(line))).toEqual([true, true, true])
  expect(stdout).toContain('hello')
  expect(stdout).not.toContain('hunter2')
})
