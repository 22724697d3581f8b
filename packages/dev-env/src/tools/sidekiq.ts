import { findRuby } from './interpreters.js'

/** A Ruby that has Sidekiq, a peer of the job-queue metrics in their tests; or null. */
export const findSidekiqRuby = (toolsDir: string, log: (line: string) => void) =>
  findRuby(
    {
      title: 'Sidekiq',
      package: 'ruby-sidekiq',
      tests: 'tests against a real Sidekiq',
      module: 'sidekiq',
    },
    toolsDir,
    log,
  )
