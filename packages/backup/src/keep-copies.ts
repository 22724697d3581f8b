import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { integer, secretField } from '@switchyard/config'
import { type Progress, SolvableProblem } from '@switchyard/terminal'
import { z } from 'zod'

/** Numbers of days, weeks and months of which the last copy is kept. */
interface KeepingRules {
  daily: number
  weekly: number
  monthly: number
}

export interface Copies {
  rules: KeepingRules
  /** Environment of restic: its repository, its password, and the credentials of its store. */
  env: NodeJS.ProcessEnv
}

const copiesToKeep = (standard: number, unit: string) =>
  integer(0, 1000).default(standard).describe(`Of how many ${unit} the last copy is kept`)

export const copyFields = {
  RESTIC_REPOSITORY: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Where restic keeps [copies](backup.md#copies-elsewhere) of each backup, such as `s3:https://s3.example.com/backups`. Unset: no copies',
    ),
  RESTIC_PASSWORD: secretField(z.string().min(1)).optional().describe('What restic encrypts the copies with'),
  AWS_ACCESS_KEY_ID: z.string().optional().describe('Name of the key of the bucket'),
  AWS_SECRET_ACCESS_KEY: secretField(z.string().min(1)).optional().describe('The key of the bucket'),
  AWS_DEFAULT_REGION: z.string().optional().describe('Region of the bucket'),
  BACKUP_KEEP_DAILY: copiesToKeep(7, 'days'),
  BACKUP_KEEP_WEEKLY: copiesToKeep(5, 'weeks'),
  BACKUP_KEEP_MONTHLY: copiesToKeep(12, 'months'),
}

type CopyConfig = z.infer<z.ZodObject<typeof copyFields>>

/**
 * Checks the settings of copies.
 *
 * @returns the name of a setting and its conflict with the others; null when the settings fit together
 */
export function findCopyProblem(config: CopyConfig): [string, string] | null {
  if (config.RESTIC_REPOSITORY === undefined) return null
  if (config.RESTIC_PASSWORD === undefined)
    return ['RESTIC_PASSWORD', 'set it together with RESTIC_REPOSITORY']
  return Object.values(rulesOf(config)).every((count) => count === 0)
    ? ['BACKUP_KEEP_DAILY', 'must not be 0 where BACKUP_KEEP_WEEKLY and BACKUP_KEEP_MONTHLY are 0']
    : null
}

const rulesOf = (config: CopyConfig): KeepingRules => ({
  daily: config.BACKUP_KEEP_DAILY,
  weekly: config.BACKUP_KEEP_WEEKLY,
  monthly: config.BACKUP_KEEP_MONTHLY,
})

/** Variables of this process that restic needs for every store. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'XDG_CACHE_HOME', 'SSL_CERT_FILE', 'HTTPS_PROXY', 'NO_PROXY']

/** Reads where copies are kept; null: nowhere. */
export const readCopies = (config: CopyConfig, env: NodeJS.ProcessEnv): Copies | null =>
  config.RESTIC_REPOSITORY === undefined
    ? null
    : {
        rules: rulesOf(config),
        env: {
          ...Object.fromEntries(inherited.map((name) => [name, env[name]])),
          RESTIC_REPOSITORY: config.RESTIC_REPOSITORY,
          RESTIC_PASSWORD: config.RESTIC_PASSWORD?.reveal(),
          AWS_ACCESS_KEY_ID: config.AWS_ACCESS_KEY_ID,
          AWS_SECRET_ACCESS_KEY: config.AWS_SECRET_ACCESS_KEY?.reveal(),
          AWS_DEFAULT_REGION: config.AWS_DEFAULT_REGION,
        },
      }

interface ResticFailure extends Error {
  code: number | string | null
  stderr: string
}

const tag = 'switchyard'

/**
 * Copies a complete backup into a repository of restic, and removes the copies that the rules do not keep.
 * Creates a missing repository. restic encrypts and compresses the copy, and stores only data that earlier
 * copies do not contain.
 *
 * @param folder of the backup
 * @throws SolvableProblem with the message of restic, when restic is missing or fails; the backup in the
 * folder is complete nevertheless
 */
export async function keepCopies(folder: string, { rules, env }: Copies, progress: Progress): Promise<void> {
  const restic = async (...args: string[]) => {
    await promisify(execFile)('restic', ['--quiet', ...args], { cwd: folder, env })
  }
  const own = ['--tag', tag, '--host', tag]
  try {
    await progress.step('copy', async () => {
      await restic('cat', 'config').catch(async (error: ResticFailure) => {
        if (!error.stderr?.includes('Is there a repository')) throw error
        await restic('init')
      })
      await restic('backup', ...own, '.')
    })
    const keep = Object.entries(rules).flatMap(([unit, count]) =>
      count > 0 ? [`--keep-${unit}`, String(count)] : [],
    )
    await progress.step('copies of earlier days', () =>
      restic('forget', ...own, '--group-by', 'host,tags', ...keep, '--prune'),
    )
  } catch (error) {
    throw new SolvableProblem(
      `The backup is complete, but not its copy: ${problemOf(error as ResticFailure)}`,
    )
  }
}

function problemOf({ code, stderr, message }: ResticFailure): string {
  if (code === 'ENOENT') return 'RESTIC_REPOSITORY needs restic, which is not installed'
  const lines = (stderr ?? '').split('\n').filter((line) => line.trim() !== '')
  return lines.find((line) => line.startsWith('Fatal:'))?.replace('Fatal: ', '') ?? lines.at(-1) ?? message
}
