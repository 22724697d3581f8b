import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { waitFor } from '@switchyard/testing'
import { expect, it } from 'vitest'
import { type Program, runProgram } from '../../src/processes/program-starter.js'

const shell = (script: string, given: Partial<Program> = {}) =>
  runProgram({
    command: 'sh',
    args: ['-c', script],
    env: { PATH: process.env.PATH },
    timeoutMs: 20_000,
    stdoutBytesMax: 1000,
    stderrBytesMax: 5,
    ...given,
  })

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const isRunning = (pid: number) => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

it('passes input and environment to a program, and returns its bounded output and its exit code', async () => {
  const env = { PATH: process.env.PATH, GREETING: 'Hello' }
  const result = await shell('echo "$GREETING $(cat)"; echo 123456789 >&2; exit 3', { stdin: 'you', env })
  expect({ ...result, stdout: text(result.stdout), stderr: text(result.stderr) }).toMatchObject({
    code: 3,
    stdout: 'Hello you\n',
    stderr: '12345',
    truncated: false,
  })
})

it('a program receives only the given variables', async () => {
  process.env.SECRET_OF_THIS_PROCESS = 'secret'
  const { stdout } = await shell('env; cat /proc/$PPID/environ', { stdoutBytesMax: 100_000 })
  expect(text(stdout)).toContain('PATH=')
  expect(text(stdout)).not.toContain('SECRET_OF_THIS_PROCESS')
})

it('ends a program that prints too much, takes too long or is abandoned, and no outcome waits for another', async () => {
  const abort = new AbortController()
  const [endless, slow, givenUp, quick] = [
    shell('exec yes'),
    shell('exec sleep 60', { timeoutMs: 300 }),
    shell('exec sleep 60', { signal: abort.signal }),
    shell('echo quick'),
  ]
  expect(text((await quick).stdout)).toBe('quick\n')
  abort.abort()
  expect(await endless).toMatchObject({ code: null, truncated: true })
  expect((await endless).stdout).toHaveLength(1000)
  expect(await slow).toMatchObject({ code: null, truncated: false })
  expect(await givenUp).toMatchObject({ code: null, truncated: false })
})

it('reports that a program cannot be started', async () => {
  await expect(shell('', { command: '/nowhere/git' })).rejects.toMatchObject({ kind: 'unavailable' })
})

it('when the process that starts programs is killed, its programs fail, and the next program runs', async () => {
  const { stdout } = await shell('echo $PPID')
  const lost = shell('exec sleep 60')
  const failure = expect(lost).rejects.toMatchObject({ kind: 'unavailable' })
  process.kill(Number(text(stdout)), 'SIGKILL')
  await failure
  expect(text((await shell('echo again')).stdout)).toBe('again\n')
})

it('programs end with the process that started them, even when it is killed', async () => {
  const asker = `
    import { runProgram } from ${JSON.stringify(new URL('../../src/processes/program-starter.ts', import.meta.url).href)}
    const given = { env: { PATH: process.env.PATH }, timeoutMs: 60_000, stdoutBytesMax: 1000, stderrBytesMax: 1000 }
    void runProgram({ command: 'sh', args: ['-c', 'exec sleep 60'], ...given })
    const { stdout } = await runProgram({ command: 'sh', args: ['-c', 'pgrep -P $PPID sleep'], ...given })
    process.stdout.write(stdout)
    process.kill(process.pid, 'SIGKILL')
  `
  const options = ['--import', 'tsx', '--input-type=module', '--eval', asker]
  let printed = ''
  try {
    execFileSync(process.execPath, options, { encoding: 'utf8', cwd: import.meta.dirname })
  } catch (error) {
    printed = (error as { stdout: string }).stdout
  }
  const pid = Number(printed)
  expect(pid).toBeGreaterThan(0)
  await waitFor(() => !isRunning(pid), { what: 'the end of the program' })
})
