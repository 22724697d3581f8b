import type { OnFallback } from '@switchyard/git-storage'
import type { Logger } from '@switchyard/service-kit/observability'
import { Counter, type Registry } from 'prom-client'

/**
 * Counts, by reason, the questions that a git process answers because the reader in this process cannot. Damage and
 * unreadable files are also logged, once for each reason.
 */
export function countFallbacks(registry: Registry, logger: Logger): OnFallback {
  const fallbacks = new Counter({
    name: 'git_reader_fallbacks_total',
    help: 'Questions about repositories that were left to a git process, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  const logged = new Set<string>()
  return (reason, error) => {
    fallbacks.inc({ reason })
    if (!error || logged.has(reason)) return
    logged.add(reason)
    logger.warn({ err: error, reason }, 'a repository could not be read without git; git answers instead')
  }
}
