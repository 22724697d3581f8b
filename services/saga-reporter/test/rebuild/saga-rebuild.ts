import { execFile } from 'node:child_process'
import { bundled, programEnvironment } from '@switchyard/testing'

/** Runs `saga:rebuild` in its shipped form. */
export async function runRebuild(
  databaseUrl: string,
  ...options: string[]
): Promise<{ code: number; lines: string[] }> {
  const main = await bundled('services/saga-reporter', 'rebuild')
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [main, ...options],
      { env: { ...programEnvironment(), DATABASE_URL: databaseUrl }, timeout: 300_000 },
      (error, stdout, stderr) => {
        const lines = `${stdout}${stderr}`.trim().split('\n')
        resolve({ code: error ? Number(error.code ?? -1) : 0, lines })
      },
    )
  })
}
