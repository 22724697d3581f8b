import { bundled, waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import type { GitHarness } from './git-harness.js'

const port = 20_000 + (process.pid % 10_000)
const baseUrl = `http://127.0.0.1:${port}`

/** Starts another instance on the harness's database and storage, as a process that can be killed. */
export async function startGitProcess(
  { databaseUrl, storageRoot }: Pick<GitHarness, 'databaseUrl' | 'storageRoot'>,
  env: Record<string, string> = {},
) {
  const child = execa(process.execPath, [await bundled('services/git-api')], {
    env: {
      DATABASE_URL: databaseUrl,
      REDIS_URL: 'redis://127.0.0.1:1',
      SWITCHYARD_STORAGE_ROOT: storageRoot,
      SWITCHYARD_ROOT_TOKEN: 'root-token-of-the-tests-0123456789',
      PORT: String(port),
      RATE_LIMIT_PER_MINUTE: '0',
      LOG_LEVEL: 'silent',
      ...env,
    },
    reject: false,
    all: true,
  })
  let output = ''
  child.all.on('data', (chunk) => {
    output += chunk
  })
  const isReady = async () => (await fetch(`${baseUrl}/-/readiness`)).ok
  await waitFor(isReady, { what: 'git-api to be ready' })
  return {
    baseUrl,
    /** Returns the output of the process so far. */
    output: () => output,
    /** Resolves when the process has ended. */
    async kill() {
      child.kill('SIGKILL')
      await child
    },
  }
}
