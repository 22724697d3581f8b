// The table of packages in docs/architecture.md, which a test compares with these rules.
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

/** Folders of git-api that hold subjects, and no file of their own. */
const groupsOfSubjects = '(?:(?:access|ci|delivery|publishing|repository)/)?'

/**
 * A subject of a service is a folder; other subjects use it through its door, the file that has the folder's name.
 */
const subjects = (service, groups = '') => [
  {
    name: `${service}-subjects-use-doors`,
    severity: 'error',
    comment:
      'A subject uses `shapes`, the files beside the folders, and of another subject only `<subject>.ts` and its rows.',
    from: { path: `^services/${service}/src/${groups}([^/]+)/`, pathNot: '\\.test\\.ts$' },
    to: {
      path: `^services/${service}/src/[^/]+/`,
      pathNot: [
        `^services/${service}/src/${groups}$1/`,
        `^services/${service}/src/shapes/`,
        `^services/${service}/src/${groups}([^/]+)/\\1\\.ts$`,
        `^services/${service}/src/${groups}[^/]+/store\\.ts$`,
      ],
    },
  },
  {
    name: `${service}-shapes-know-no-subject`,
    severity: 'error',
    comment:
      'Shapes turn results into answers and answers of clients into values; they know no subject and no caller.',
    from: { path: `^services/${service}/src/shapes/`, pathNot: '\\.test\\.ts$' },
    to: {
      path: `^services/${service}/src/`,
      pathNot: `^services/${service}/src/shapes/`,
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: `${service}-config-knows-no-subject`,
    severity: 'error',
    comment: 'Settings are read before any subject exists. The form of a setting may be a shape.',
    from: { path: `^services/${service}/src/config\\.ts$` },
    to: { path: `^services/${service}/src/[^/]+/`, pathNot: `^services/${service}/src/shapes/` },
  },
  {
    name: `${service}-routes-and-shapes-read-nothing`,
    severity: 'error',
    comment:
      'Routes, methods of gRPC and shapes reach rows and repositories through the work of a subject; they may name types.',
    from: {
      path: [
        `^services/${service}/src/shapes/`,
        `^services/${service}/src/${groups}[^/]+/[a-z-]*(routes|present|grpc)\\.ts$`,
      ],
      pathNot: [
        '\\.test\\.ts$',
        // The server of gRPC, which knows how a database fails.
        `^services/${service}/src/grpc/`,
      ],
    },
    to: {
      path: [
        `^packages/(db|git-storage|saga-store)/`,
        `^services/${service}/src/${groups}[^/]+/[a-z-]*store\\.ts$`,
        `^services/${service}/src/[a-z-]*store\\.ts$`,
      ],
      dependencyTypesNot: ['type-only'],
    },
  },
]

module.exports = {
  forbidden: [
    ...subjects('git-api', groupsOfSubjects),
    ...subjects('admin-broadcast'),
    ...subjects('jobqueue-metrics'),
    ...subjects('worker'),
    ...subjects('saga-reporter'),
    below('domain', []),
    below('contracts', []),
    below('config', []),
    below('db', ['config', 'domain']),
    below('saga-store', ['db', 'domain', 'testing']),
    below('banner', []),
    below('jobs-heartbeat', ['testing']),
    below('service-kit', ['config', 'domain', 'testing']),
    below('git-storage', ['service-kit', 'domain', 'testing']),
    below('saga-client', ['contracts']),
    below('cli', ['domain']),
    below('delivery-impact', ['domain']),
    below('outbound-http', ['config', 'domain']),
    below('webhooks', ['outbound-http', 'service-kit', 'config', 'db', 'domain']),
    below('callers', ['outbound-http', 'service-kit', 'db', 'domain', 'testing']),
    below('testing', ['contracts', 'db', 'local-servers', 'domain']),
    below('terminal', []),
    below('local-servers', ['config', 'db', 'contracts', 'terminal']),
    below('backup', ['config', 'db', 'local-servers', 'terminal', 'domain', 'git-storage', 'testing']),
    {
      name: 'examples-use-the-client-only',
      severity: 'error',
      comment: 'An example shows what somebody outside this repository can do.',
      from: { path: '^examples/' },
      to: { path: '^(packages|services)/', pathNot: '^packages/saga-client/' },
    },
    {
      name: 'stores-know-no-requests',
      severity: 'error',
      comment: 'Rows are read and written below guards and routes.',
      from: { path: '^services/[^/]+/src/.*store\\.ts$' },
      to: { path: '^services/[^/]+/src/(.*routes|guards)\\.ts$' },
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
      to: { path: '^packages/(testing|local-servers)/' },
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
    {
      name: 'console-parts-know-no-pages',
      severity: 'error',
      comment: 'What all pages of the console share uses neither a page nor the frame around them.',
      from: { path: '^services/console/web/src/(components|lib|api)/' },
      to: { path: '^services/console/web/src/(pages|shell)/' },
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
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
    },
  },
}
