// `node scripts/group-leader.mjs COMMAND [ARGUMENT…]`, started by runGroup as the leader of a process group: runs the
// command, and ends the whole group when the process that started this one is gone, also by `kill -9`.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const graceMs = 5000
const [command, ...args] = process.argv.slice(2)

// A signal to the group reaches the command too; this process stays to pass on its exit code.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})

let isAbandoned = false
// Standard input is a pipe from the process above, which closes when that process ends.
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
