import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { SolvableProblem } from '@switchyard/terminal'

const hints: Record<string, (port: number, variable: string) => string> = {
  EADDRINUSE: (port, variable) =>
    `port ${port} is in use: stop what uses it, or choose another with ${variable}=${port + 1}`,
  EACCES: (port, variable) =>
    `port ${port} needs privileges: choose one above 1023 with ${variable}=${port + 8000}`,
  EADDRNOTAVAIL: () => 'this machine does not have the address in HOST: leave HOST out, or set it to 0.0.0.0',
}

/** Listens on a port. Rejects with one line that names the variable to change. */
export async function listen(
  server: Server,
  { host, port, variable = 'PORT' }: { host: string; port: number; variable?: string },
): Promise<void> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw new SolvableProblem(`Cannot listen on ${host}: ${hints[code]?.(port, variable) ?? message}`)
  }
}

/** Checks that a child process can listen on a port. Rejects as `listen` does. */
export async function ensureFree(options: { host: string; port: number; variable: string }): Promise<void> {
  const probe = createServer()
  await listen(probe, options)
  await new Promise((resolve) => probe.close(resolve))
}
