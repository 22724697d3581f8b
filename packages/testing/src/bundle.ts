import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

const fresh = new Map<string, Promise<void>>()

/**
 * Returns the file of a program of a package, such as `services/worker`, in its bundle. `npm start` and
 * images run the bundle, which starts in a third of the time of its sources. A stale bundle is rebuilt.
 */
export async function bundled(folder: string, program = 'main'): Promise<string> {
  const made = fresh.get(folder) ?? makeBundle(folder)
  fresh.set(folder, made)
  await made
  return join(root, folder, 'dist/bundle', `${program}.js`)
}

async function makeBundle(folder: string): Promise<void> {
  const { bootstrap }: Setup = await import(join(root, 'ops/setup/bootstrap.mjs'))
  await bootstrap(new AbortController().signal, { names: [folder], withTools: true })
}

interface Setup {
  bootstrap(stop: AbortSignal, wanted: { names: string[]; withTools: boolean }): Promise<void>
}

/**
 * Returns the variables for a program of a test that does not inherit all: PATH, and the folder of Node's
 * compiled code.
 */
export const programEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
})
