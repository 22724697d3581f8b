import type { Database } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  arriving,
  created,
  endpoint,
  flag,
  noContent,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { optional, optionalText, pathRest } from '../../shapes/parameters.js'
import { fileHeaders, fileTypes, sendFile } from '../stored-files/stored-files.js'
import type { PackageDependencies, PathInProject } from './packages.js'
import * as packages from './packages.js'
import {
  packageFileShape,
  packageShape,
  packageWithVersionsShape,
  presentPackage,
  presentPackageFile,
  presentPackageWithVersions,
  presentPublishedFile,
  publishedFileShape,
} from './present.js'

/**
 * Returns the routes of the registry of generic packages. Callers who may read the code may read packages;
 * callers who may push may publish them.
 */
export function packageRoutes(deps: PackageDependencies): Route[] {
  const { readCode, pushCode, maintain } = deps.guards
  const path = '/projects/:id/packages'
  const one = `${path}/:package_id`
  const generic = `${path}/generic/:package_name/:package_version/*file_name`
  const streams = { longLived: true }
  return [
    route('GET', path, readCode, listPackages(deps.database)),
    route('PUT', generic, pushCode, publishFile(deps), { ...streams, streamsBody: true }),
    route('GET', generic, readCode, downloadFile(deps), streams),
    route('DELETE', generic, maintain, deleteFiles(deps)),
    route('GET', one, readCode, getPackage(deps.database)),
    route('DELETE', one, maintain, deletePackage(deps)),
    route('GET', `${one}/package_files`, readCode, listFiles(deps.database)),
    route('DELETE', `${one}/package_files/:package_file_id`, maintain, deleteFile(deps)),
  ]
}

/** GitLab's types of packages. Only generic ones exist here. */
const packageTypes = [
  'generic',
  'cargo',
  'composer',
  'conan',
  'debian',
  'golang',
  'helm',
  'maven',
  'ml_model',
  'npm',
  'nuget',
  'pypi',
  'rpm',
  'rubygems',
  'terraform_module',
]

const orders = { created_at: 'createdAt', name: 'name', version: 'version', type: 'createdAt' } as const
const direction = z.enum(['asc', 'desc']).default('asc')
const status = z.enum(['default', 'hidden'])

const listPackages = (database: Database) =>
  endpoint({
    summary: 'List the packages of a project',
    replies: { 200: z.array(packageShape) },
    input: z.object({
      ...pageParameters,
      order_by: z.enum(['created_at', 'name', 'version', 'type']).default('created_at'),
      sort: direction,
      package_type: optional(z.enum(packageTypes)),
      package_name: optionalText(text()).meta({ description: 'Part of the name, case-insensitive' }),
      package_version: optionalText(text()),
      include_versionless: optional(flag()).meta({
        description: 'Has no effect: every package has a version',
      }),
      status: status.default('default'),
    }),
    async handle(given, access: ProjectCall, call) {
      const { order_by, sort, package_type, package_name, package_version, status, page, per_page } = given
      const paging = { page, per_page }
      if ((package_type ?? 'generic') !== 'generic') return pageReply([], paging, 0, call)
      const query = {
        name: package_name,
        version: package_version,
        status,
        order: orders[order_by],
        descending: sort === 'desc',
      }
      const found = await packages.listPackages(database, access, query, rowsOf(paging))
      const items = found.packages.map((each) => presentPackage(each, access.project, call.baseUrl))
      return pageReply(items, paging, found.total, call)
    },
  })

/** The path of a file, as parameters of the address. */
const pathFields = {
  package_name: text().pipe(z.string().regex(packages.packageNamePattern)),
  package_version: text().pipe(z.string().regex(packages.packageVersionPattern)),
  file_name: pathRest().pipe(z.string().regex(packages.fileNamePattern)),
}

const toPath = ({
  package_name,
  package_version,
  file_name,
}: z.output<z.ZodObject<typeof pathFields>>): PathInProject => ({
  name: package_name,
  version: package_version,
  fileName: file_name,
})

/**
 * `PUT /projects/:id/packages/generic/:package_name/:package_version/*file_name`: the body is the file,
 * whatever its content type is.
 */
const publishFile = (deps: PackageDependencies) =>
  endpoint({
    summary: 'Publish a file of a generic package',
    replies: { 201: z.union([z.object({ message: z.string() }), publishedFileShape]) },
    body: { 'application/octet-stream': {} },
    refusals: [429],
    input: z.object({
      ...pathFields,
      status: optional(status).meta({ description: '`hidden`: the package is in no list' }),
      select: optional(z.literal('package_file')).meta({ description: 'Respond with the file' }),
    }),
    async handle({ status, select, ...given }, access: ProjectCall<Caller>, call) {
      const { request } = call.raw
      if (request.headers['content-encoding'] !== undefined)
        throw new DomainError('unsupported-media-type', 'A file of a package cannot be sent compressed')
      const length = request.get('Content-Length')
      const incoming = {
        chunks: arriving(request, { periodMs: deps.transferIdleMs, periodBytesMin: 1 }, call.signal),
        announcedBytes: length === undefined ? undefined : Number(length),
      }
      const path = toPath(given)
      const file = await packages.publishFile(deps, access, { ...path, status }, incoming, call)
      if (select === undefined) return created({ message: '201 Created' })
      return created(presentPublishedFile(file, path, access.project, call.baseUrl))
    },
  })

const downloadFile = (deps: PackageDependencies) =>
  endpoint({
    summary: 'Download the newest file with this name, or the part of it that `Range` names',
    replies: { 200: fileTypes, 206: fileTypes, 416: null },
    headers: fileHeaders,
    input: z.object(pathFields),
    async handle(given, access: ProjectCall, call) {
      const { oid, fileName } = await packages.getFile(deps.database, access, toPath(given))
      return sendFile(deps, access, { oid, fileName: fileName.split('/').at(-1) ?? fileName }, call)
    },
  })

const deleteFiles = (deps: PackageDependencies) =>
  endpoint({
    summary: 'Delete the files with this name; the package is deleted with its last file',
    replies: { 204: null },
    input: z.object(pathFields),
    async handle(given, access: ProjectCall) {
      await packages.removeFiles(deps, access, toPath(given))
      return noContent()
    },
  })

const getPackage = (database: Database) =>
  endpoint({
    summary: 'Get a package',
    replies: { 200: packageWithVersionsShape },
    input: z.object({ package_id: rowId() }),
    async handle({ package_id }, access: ProjectCall, call) {
      const found = await packages.getPackage(database, access, package_id)
      return ok(presentPackageWithVersions(found, access.project, call.baseUrl))
    },
  })

const deletePackage = (deps: PackageDependencies) =>
  endpoint({
    summary: 'Delete a package and its files',
    replies: { 204: null },
    input: z.object({ package_id: rowId() }),
    async handle({ package_id }, access: ProjectCall) {
      await packages.removePackage(deps, access, package_id)
      return noContent()
    },
  })

const fileOrders = { id: 'id', created_at: 'createdAt', file_name: 'fileName' } as const

const listFiles = (database: Database) =>
  endpoint({
    summary: 'List the files of a package',
    replies: { 200: z.array(packageFileShape) },
    input: z.object({
      ...pageParameters,
      package_id: rowId(),
      order_by: z.enum(['id', 'created_at', 'file_name']).default('id'),
      sort: direction,
    }),
    async handle({ package_id: id, order_by, sort, ...page }, access: ProjectCall, call) {
      const query = { id, order: fileOrders[order_by], descending: sort === 'desc' }
      const { files, total } = await packages.listFiles(database, access, query, rowsOf(page))
      return pageReply(files.map(presentPackageFile), page, total, call)
    },
  })

const deleteFile = (deps: PackageDependencies) =>
  endpoint({
    summary: 'Delete a file of a package; the package is deleted with its last file',
    replies: { 204: null },
    input: z.object({ package_id: rowId(), package_file_id: rowId() }),
    async handle({ package_id, package_file_id }, access: ProjectCall) {
      await packages.removeFile(deps, access, { packageId: package_id, fileId: package_file_id })
      return noContent()
    },
  })
