// `node ops/setup/group-leader.mjs COMMAND [ARGUMENT…]`, started by runGroup as the leader of a process
// group. It runs the command, and ends the whole group when the parent process has ended, even after `kill
// -9`.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const graceMs = 5000
const [command, ...args] = process.argv.slice(2)

// A signal to the group also reaches the command. This process stays to return the exit code of the command.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})

let isAbandoned = false
// Standard input is a pipe from the parent process, which closes when that process ends.
process.stdin.resume().once('close', () => {
  isAbandoned = true
  process.kill(-process.pid, 'SIGTERM')
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), graceMs)
})

const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
child.once('error', (error) => {
  console.error(`${command} cannot be started: ${error.message}`)
  process.exit(127)
})
child.once('exit', (code, signal) => {
  if (!isAbandoned) process.exit(code ?? 128 + constants.signals[signal])
})
