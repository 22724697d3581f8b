import type { Package, Project } from '@switchyard/db'
import { link } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { PathInProject } from './packages.js'
import type { StoredPackageFile } from './store.js'

export const packageShape = z
  .object({
    id: z.int(),
    name: z.string(),
    version: z.string(),
    package_type: z.literal('generic'),
    status: z.string(),
    created_at: z.date(),
    last_downloaded_at: z.null(),
    creator_id: z.int().nullable(),
    tags: z.array(z.unknown()),
    pipelines: z.array(z.unknown()),
    _links: z.object({ web_path: z.string(), delete_api_path: link() }),
  })
  .meta({ id: 'Package', description: 'A version of a generic package' })

export const packageWithVersionsShape = packageShape
  .extend({
    versions: z.array(
      z.object({
        id: z.int(),
        version: z.string(),
        created_at: z.date(),
        tags: z.array(z.unknown()),
        pipelines: z.array(z.unknown()),
      }),
    ),
  })
  .meta({
    id: 'PackageWithVersions',
    description: 'A version of a generic package, and the other versions of the package',
  })

export const packageFileShape = z
  .object({
    id: z.int(),
    package_id: z.int(),
    created_at: z.date(),
    file_name: z.string(),
    size: z.int(),
    file_md5: z.null(),
    file_sha1: z.null(),
    file_sha256: z.string(),
    pipelines: z.array(z.unknown()),
  })
  .meta({ id: 'PackageFile', description: 'A file of a package' })

export const publishedFileShape = packageFileShape
  .extend({ updated_at: z.date(), file_store: z.int(), status: z.string(), file: z.object({ url: link() }) })
  .meta({ id: 'PublishedFile', description: 'A file of a package, and its address' })

export const presentPackage = (
  { id, name, version, status, createdAt, creatorId }: Package,
  { id: projectId, pathWithNamespace }: Project,
  baseUrl: string,
): z.output<typeof packageShape> => ({
  id: Number(id),
  name,
  version,
  package_type: 'generic',
  status,
  created_at: createdAt,
  last_downloaded_at: null,
  creator_id: creatorId,
  tags: [],
  pipelines: [],
  _links: {
    web_path: `/${pathWithNamespace}/-/packages/${id}`,
    delete_api_path: `${baseUrl}/api/v4/projects/${projectId}/packages/${id}`,
  },
})

export const presentPackageWithVersions = (
  { found, versions }: { found: Package; versions: Package[] },
  project: Project,
  baseUrl: string,
): z.output<typeof packageWithVersionsShape> => ({
  ...presentPackage(found, project, baseUrl),
  versions: versions.map(({ id, version, createdAt }) => ({
    id: Number(id),
    version,
    created_at: createdAt,
    tags: [],
    pipelines: [],
  })),
})

export const presentPackageFile = ({
  id,
  packageId,
  createdAt,
  fileName,
  oid,
  object,
}: StoredPackageFile): z.output<typeof packageFileShape> => ({
  id: Number(id),
  package_id: Number(packageId),
  created_at: createdAt,
  file_name: fileName,
  size: Number(object.size),
  file_md5: null,
  file_sha1: null,
  file_sha256: oid,
  pipelines: [],
})

/** Returns a file as GitLab answers `select=package_file`. */
export const presentPublishedFile = (
  file: StoredPackageFile,
  { name, version, fileName }: PathInProject,
  project: Project,
  baseUrl: string,
): z.output<typeof publishedFileShape> => ({
  ...presentPackageFile(file),
  updated_at: file.createdAt,
  file_store: 1,
  status: 'default',
  file: {
    url: `${baseUrl}/api/v4/projects/${project.id}/packages/generic/${[name, version, ...fileName.split('/')]
      .map(encodeURIComponent)
      .join('/')}`,
  },
})
