import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../src/rebuild/main.ts', import.meta.url))

/** Runs `saga:rebuild` as it is shipped, on its sources. */
export function runRebuild(
  databaseUrl: string,
  ...options: string[]
): Promise<{ code: number; lines: string[] }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', main, ...options],
      { env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl }, timeout: 60_000 },
      (error, stdout, stderr) => {
        const lines = `${stdout}${stderr}`.trim().split('\n')
        resolve({ code: error ? Number(error.code ?? -1) : 0, lines })
      },
    )
  })
}
