import pc from 'picocolors'

/** The output of steps on the terminal. */
export interface Progress {
  /** Runs a step, and shows its progress and its duration. */
  step<T>(label: string, work: () => Promise<T>): Promise<T>
  notice(line: string): void
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 80

/** Creates the output: a spinner on a terminal, and plain lines otherwise. */
export function createProgress(out: NodeJS.WriteStream = process.stderr): Progress {
  const running = new Set<string>()
  let frame = 0
  let timer: NodeJS.Timeout | undefined

  const clear = () => out.isTTY && out.write('\r\x1b[K')
  const draw = () => {
    if (running.size === 0) return
    frame = (frame + 1) % frames.length
    out.write(`\r\x1b[K${pc.cyan(frames[frame] ?? '')} ${[...running].join(', ')} …`)
  }
  const line = (text: string) => {
    clear()
    out.write(`${text}\n`)
  }
  const finish = (label: string) => {
    running.delete(label)
    if (running.size > 0) return
    clearInterval(timer)
    timer = undefined
    clear()
  }

  return {
    async step(label, work) {
      const startedAt = performance.now()
      running.add(label)
      if (out.isTTY) timer ??= setInterval(draw, frameMs)
      try {
        const result = await work()
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
        line(`${pc.green('✓')} ${label} ${pc.dim(`${seconds} s`)}`)
        return result
      } finally {
        finish(label)
      }
    },
    notice: (text) => line(`${pc.yellow('•')} ${text}`),
  }
}
