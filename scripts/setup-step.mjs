// One step of the setup, shown by its name and its duration.
import { runGroup } from './child-group.mjs'

/** A problem that the user can solve. Only its message is printed. */
export class SetupProblem extends Error {}

/**
 * Runs a command and prints its output only when it fails.
 *
 * @param stop an AbortSignal; when it is aborted, the command ends and this rejects
 * @param advice what the user can do when the command fails
 */
export async function step(label, stop, command, cwd, advice = '') {
  const startedAt = performance.now()
  const progress = showProgress(label)
  // Outside of CI, pnpm asks for confirmation before it replaces a folder of another version.
  const env = { ...process.env, CI: 'true', TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
  const output = []
  const onOutput = (chunk) => output.push(chunk)
  const code = await runGroup(command, stop, { cwd, env, onOutput })
  progress.end()
  stop.throwIfAborted()
  if (code !== 0) {
    process.stderr.write(Buffer.concat(output))
    throw new SetupProblem(`${label} failed (exit ${code}): ${command.join(' ')}${advice}`)
  }
  console.error(`✓ ${label} ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}

function showProgress(label) {
  if (!process.stderr.isTTY) {
    console.error(`• ${label} …`)
    return { end() {} }
  }
  const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
  let frame = 0
  const timer = setInterval(() => {
    frame = (frame + 1) % frames.length
    process.stderr.write(`\r\x1b[K${frames[frame]} ${label} …`)
  }, 80)
  return {
    end() {
      clearInterval(timer)
      process.stderr.write('\r\x1b[K')
    },
  }
}
