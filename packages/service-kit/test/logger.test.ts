import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const logger = fileURLToPath(new URL('../src/observability/logger.ts', import.meta.url))

it('shows the error of a Redis command without what was sent: a password, or the payload of a job', async () => {
  const program = `
    import { createLogger } from ${JSON.stringify(logger)}
    const failed = Object.assign(new Error('WRONGPASS'), { command: { name: 'hello', args: ['3', 'AUTH', 'hunter2'] } })
    const logger = createLogger('test', 'info')
    logger.warn({ err: failed }, 'away')
    logger.warn({ err: Object.assign(new Error('no node is left'), { lastNodeError: failed }) }, 'away')
    logger.child({ source: 'jobs' }).warn(failed)`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const lines = stdout.trim().split('\n')
  expect(lines.map((line) => /WRONGPASS|no node/.test(line))).toEqual([true, true, true])
  expect(stdout).toContain('hello')
  expect(stdout).not.toContain('hunter2')
})
