import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Small files that take long, in the order in which they begin: what waits much stands beside what keeps the
 * machine busy.
 */
const longest = [
  'trials/chaos/chaos',
  'trials/end-to-end/start-and-stop',
  'trials/end-to-end/console/console',
  'trials/end-to-end/console/console-shown',
  'trials/end-to-end/backup',
  'trials/end-to-end/stopping',
  'services/console/test/event-streams',
  'services/admin-broadcast/test/banner',
  'ops/gateway/test/every-parameter',
  'services/git-api/test/storages/storage-moves',
  'packages/backup/test/copies',
  'services/worker/test/process',
]

/**
 * Begins with the files that take longest, so that none of them runs alone at the end. Without results of an
 * earlier run, vitest begins with the largest files.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files)
    const isOf = (name: string) => (file: TestSpecification) => file.moduleId.endsWith(`/${name}.test.ts`)
    const first = longest.flatMap((name) => sorted.filter(isOf(name)))
    return [...first, ...sorted.filter((file) => !first.includes(file))]
  }
}

// Packages export their sources, so no build stands between an edit and its test. Services that tests start
// as processes run from bundles, which `bundled` rebuilds when the sources have changed. Where test files are
// not isolated, a worker imports each module once for all of its test files, because importing the modules
// takes longer than running most files. So tests store nothing in modules: each starts its own servers, with
// its own databases.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'services/*/src/**/*.test.ts',
            'services/console/web/src/**/*.test.ts',
            'ops/test/*.test.ts',
            'ops/docker/test/*.test.ts',
            'scripts/test/*.test.ts',
          ],
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: [
            'packages/*/test/**/*.test.ts',
            'services/*/test/**/*.test.ts',
            'ops/{bundler,deploy,gateway}/test/**/*.test.ts',
            'trials/fuzz/*.test.ts',
          ],
          isolate: false,
          // Each test brings servers of its own, and waits for much of its time. More files at once, beside
          // one of those that go from end to end, starve them on two cores.
          maxWorkers: 3,
          // Guards against hanging; a busy machine takes ten times as long as an idle one.
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 300_000 } },
        },
      },
      {
        test: {
          name: 'end-to-end',
          include: ['trials/end-to-end/**/*.test.ts', 'trials/chaos/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 300_000 } },
          // Each has its own ports and data. `npm test` runs it beside the integration tests.
          maxWorkers: 1,
        },
      },
      {
        // The example of the delivery loop, which takes as long as a comparison does; not part of `npm test`.
        test: {
          name: 'tour',
          include: ['trials/tour/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 300_000,
        },
      },
      {
        // Three machines with servers that Debian has, as root; not part of `npm test`.
        test: {
          name: 'scale-out',
          include: ['trials/scale-out/*.test.ts'],
          // Guards against hanging; a busy machine takes ten times as long as an idle one.
          testTimeout: 1_800_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        // Needs a build of the release before, which trials/upgrade/run.mjs makes; not part of `npm test`.
        test: {
          name: 'upgrade',
          include: ['trials/upgrade/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 300_000,
        },
      },
      {
        // Builds every image and runs it, as root; not part of `npm test`.
        test: {
          name: 'images',
          include: ['trials/images/images.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 900_000,
        },
      },
      {
        // Prometheus and exporters of Debian, in a network that trials/monitoring/run.mjs makes; as root, and
        // not part of `npm test`.
        test: {
          name: 'monitoring',
          include: ['trials/monitoring/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 120_000, interval: 500 } },
        },
      },
      {
        // PostgreSQL 15 and pgBackRest of Debian 12; as root, and not part of `npm test`.
        test: {
          name: 'pitr',
          include: ['trials/pitr/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        // Real clients against what `npm start` runs; as root on Debian 12, and not part of `npm test`.
        test: {
          name: 'compat',
          include: ['trials/compat/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 900_000,
        },
      },
      {
        // The containers of docker-compose.yml, which trials/compose/run.mjs has made; as root, and not part
        // of `npm test`.
        test: {
          name: 'compose',
          include: ['trials/compose/*.test.ts'],
          // Guards against hanging; a busy machine takes ten times as long as an idle one.
          testTimeout: 900_000,
          hookTimeout: 900_000,
          fileParallelism: false,
          expect: { poll: { timeout: 120_000, interval: 500 } },
        },
      },
    ],
  },
})
