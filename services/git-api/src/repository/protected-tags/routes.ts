import type { Database, ProtectedTag } from '@switchyard/db'
import { accessLevels, type Caller, levelsOfTag } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  filledText,
  noContent,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { accessLevel, optional } from '../../shapes/parameters.js'
import {
  allowedLevels,
  newLevels,
  presentProtectionLevels,
  protectionLevelShape,
} from '../../shapes/protection-levels.js'
import * as protectedTags from './protected-tags.js'

const protectedTagShape = z
  .object({ name: z.string(), create_access_levels: z.array(protectionLevelShape) })
  .meta({ id: 'ProtectedTag', description: 'A tag, or a pattern of tags, and who may create it' })

/** Returns a protection in GitLab's shape. */
const presentProtectedTag = (tag: ProtectedTag): z.output<typeof protectedTagShape> => ({
  name: tag.name,
  create_access_levels: presentProtectionLevels(tag.id, levelsOfTag(tag)),
})

/** Endpoints for protected tags. `:name` is the name or the pattern as it was protected. */
export function protectedTagRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const { maintain } = guards
  const path = '/projects/:id/protected_tags'
  return [
    route('POST', path, maintain, createProtectedTag(database)),
    route('GET', path, maintain, listProtectedTags(database)),
    route('GET', `${path}/:name`, maintain, getProtectedTag(database)),
    route('DELETE', `${path}/:name`, maintain, deleteProtectedTag(database)),
  ]
}

const createProtectedTag = (database: Database) =>
  endpoint({
    summary: 'Protect a tag, or all tags that match a pattern',
    replies: { 201: protectedTagShape },
    refusals: [422],
    input: z.object({
      name: filledText(),
      create_access_level: optional(accessLevel(0, 30, 40)),
      allowed_to_create: allowedLevels(0, 30, 40),
    }),
    async handle(
      { name, create_access_level: level, allowed_to_create: allowed },
      access: ProjectCall<Caller>,
      call,
    ) {
      const createLevels = newLevels({ allowed_to_create: allowed }, level, accessLevels.maintainer)
      const given = { name, createLevels }
      const tag = await protectedTags.protectTag(database, access, given, auditAuthor(access.caller, call))
      return created(presentProtectedTag(tag))
    },
  })

const listProtectedTags = (database: Database) =>
  endpoint({
    summary: 'List protected tags',
    replies: { 200: z.array(protectedTagShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall, call) {
      const found = await protectedTags.listProtectedTags(database, access, rowsOf(page))
      return pageReply(found.tags.map(presentProtectedTag), page, found.total, call)
    },
  })

const getProtectedTag = (database: Database) =>
  endpoint({
    summary: 'Get a protected tag or pattern',
    replies: { 200: protectedTagShape },
    input: z.object({ name: text() }),
    handle: async ({ name }, access: ProjectCall) =>
      ok(presentProtectedTag(await protectedTags.getProtectedTag(database, access, name))),
  })

const deleteProtectedTag = (database: Database) =>
  endpoint({
    summary: 'Unprotect a tag',
    replies: { 204: null },
    input: z.object({ name: text() }),
    async handle({ name }, access: ProjectCall<Caller>, call) {
      await protectedTags.unprotectTag(database, access, name, auditAuthor(access.caller, call))
      return noContent()
    },
  })
