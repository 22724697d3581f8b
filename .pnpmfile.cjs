/** Dependencies of packages on what Switchyard does not use of them. */
const unused = {
  // The CLI of Prisma generates the client. It loads its studio and its local database, but runs neither.
  prisma: ['mysql2', 'postgres'],
  '@prisma/dev': [
    '@electric-sql/pglite',
    '@electric-sql/pglite-socket',
    '@electric-sql/pglite-tools',
    '@prisma/query-plan-executor',
    '@prisma/streams-local',
  ],
  '@prisma/studio-core': [
    '@radix-ui/react-toggle',
    '@visx/curve',
    '@visx/event',
    '@visx/grid',
    '@visx/group',
    '@visx/responsive',
    '@visx/scale',
    '@visx/shape',
    'd3-array',
    'd3-shape',
    'elkjs',
  ],
}

function readPackage(manifest) {
  for (const name of unused[manifest.name] ?? []) delete manifest.dependencies[name]
  // The CLI and TypeScript are optional peers of the Prisma client; with them every image would carry 200 MB.
  return manifest.name === '@prisma/client'
    ? { ...manifest, peerDependencies: {}, peerDependenciesMeta: {} }
    : manifest
}

module.exports = { hooks: { readPackage } }
