import { Secret } from '@switchyard/config'
import { createLogger, type Logger } from '@switchyard/service-kit/observability'
import { jobSources } from '../../src/source-config.js'
import { openSources } from '../../src/sources/open-sources.js'

export const silent = createLogger('test', 'silent')

/** Opens a configured source without a service. */
export function openSource(
  config: Record<string, unknown>,
  redisUrl: string,
  now: () => Date = () => new Date(),
  logger: Logger = silent,
) {
  const [source] = openSources({
    sources: jobSources().parse(JSON.stringify([{ name: 'test', ...config }])),
    redisUrl: new Secret(redisUrl),
    timeoutMs: 2000,
    clock: now,
    logger,
  })
  if (!source) throw new Error('no source')
  return source
}
