// The arrows of docs/architecture.md: dev-env → services → service-kit, db, contracts → domain; testing → db, dev-env, domain.
const below = (from, allowed) => ({
  name: `${from}-points-down`,
  severity: 'error',
  comment: `packages/${from} may use ${allowed.length > 0 ? allowed.join(', ') : 'no other package'}.`,
  from: { path: `^packages/${from}/` },
  to: {
    path: '^(packages|services)/',
    pathNot: [`^packages/${from}/`, ...allowed.map((name) => `^packages/${name}/`)],
  },
})

/** A folder of a service's sources may use these other folders of the same service, besides files that stand beside them. */
const layer = (service, from, allowed) => ({
  name: `${service}-${from}-points-down`,
  severity: 'error',
  comment: `services/${service}/src/${from} may use ${allowed.length > 0 ? allowed.join(', ') : 'no other folder'}.`,
  from: { path: `^services/${service}/src/${from}/`, pathNot: '\\.test\\.ts$' },
  to: {
    path: `^services/${service}/src/[^/]+/`,
    pathNot: [from, ...allowed].map((name) => `^services/${service}/src/${name}/`),
  },
})

module.exports = {
  forbidden: [
    layer('jobqueue-metrics', 'routes', ['use-cases', 'presenters']),
    layer('jobqueue-metrics', 'prometheus', ['use-cases', 'sources']),
    layer('jobqueue-metrics', 'use-cases', ['sources', 'history']),
    layer('jobqueue-metrics', 'presenters', ['sources', 'history']),
    layer('jobqueue-metrics', 'history', ['sources']),
    layer('jobqueue-metrics', 'sources', []),
    layer('worker', 'queues', ['jobs']),
    layer('worker', 'jobs', ['git', 'saga-figures', 'webhooks']),
    layer('worker', 'webhooks', ['queues']),
    layer('worker', 'saga-figures', []),
    below('domain', []),
    below('contracts', ['domain']),
    below('db', ['domain']),
    below('banner', []),
    below('jobs-heartbeat', ['testing']),
    below('service-kit', ['domain']),
    below('saga-client', ['contracts']),
    below('webhooks', ['service-kit', 'db', 'domain']),
    below('testing', ['db', 'dev-env', 'domain']),
    below('dev-env', ['db', 'contracts', 'domain']),
    {
      name: 'examples-use-the-client-only',
      severity: 'error',
      comment: 'An example shows what somebody outside this repository can do.',
      from: { path: '^examples/' },
      to: { path: '^(packages|services)/', pathNot: '^packages/saga-client/' },
    },
    {
      name: 'services-stand-alone',
      severity: 'error',
      comment: 'A service never imports a service.',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'services-know-no-tooling',
      severity: 'error',
      comment: 'What is deployed uses neither the test helpers nor the local environment.',
      from: { path: '^services/[^/]+/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^packages/(testing|dev-env)/' },
    },
    {
      name: 'domain-does-no-io',
      severity: 'error',
      comment: 'Rules are functions of their arguments: no Node built-ins but hashing, no libraries.',
      from: { path: '^packages/domain/src/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|path/posix|buffer)$' },
    },
    {
      name: 'prisma-stays-in-db',
      severity: 'error',
      comment: 'Only stores talk to Prisma.',
      from: { pathNot: '^packages/db/' },
      to: { path: 'node_modules/(\\.pnpm/)?@?prisma' },
    },
    { name: 'no-cycles', severity: 'error', from: { pathNot: '/generated/' }, to: { circular: true } },
    {
      name: 'everything-resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '/dist/'] },
    exclude: { path: ['/dist/', '/generated/', '/gen/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@switchyard/source', 'import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
}
