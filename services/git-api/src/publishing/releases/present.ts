import type { Project, ReleaseLink } from '@switchyard/db'
import type { LfsObject } from '@switchyard/domain/commit'
import { type ReleaseLinkFields, releaseLinkTypes } from '@switchyard/domain/release'
import { filledText, link, oneOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { commitShape, presentCommit } from '../../shapes/commit.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import { sourceArchives } from '../../shapes/project.js'
import { presentUser, userShape } from '../../shapes/user.js'
import type { ReleaseView } from './releases.js'

const ownOnly = 'Only for a package or an upload of the same project that the caller may read'

export const releaseLinkShape = z
  .object({
    id: z.int(),
    name: z.string(),
    url: z.string(),
    direct_asset_url: z.string(),
    link_type: oneOf(releaseLinkTypes),
    size: z
      .int()
      .meta({ description: `Bytes of the file. ${ownOnly}` })
      .optional(),
    sha256: z.string().meta({ description: ownOnly }).optional(),
  })
  .meta({ id: 'ReleaseLink', description: 'A link to a file of a release' })

const codeOnly = 'Only for callers who may read the code of the project'

export const releaseShape = z
  .object({
    tag_name: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    created_at: z.date(),
    released_at: z.date(),
    upcoming_release: z.boolean(),
    author: userShape.nullable(),
    commit: commitShape.nullable().meta({ description: codeOnly }).optional(),
    commit_path: z.string().meta({ description: codeOnly }).optional(),
    tag_path: z.string().meta({ description: codeOnly }).optional(),
    assets: z.object({
      count: z.int(),
      sources: z
        .array(z.object({ format: z.string(), url: link() }))
        .meta({ description: codeOnly })
        .optional(),
      links: z.array(releaseLinkShape),
    }),
    evidences: z.array(z.unknown()),
    _links: z.object({ self: link() }),
  })
  .meta({ id: 'Release', description: 'A release of a tag, with notes and links' })

/** Objects of files by the addresses of links. */
type OwnObjects = ReadonlyMap<string, LfsObject>

/**
 * Returns a release in GitLab's shape. Without the right to read code, everything about the commit is left
 * out.
 */
export function presentRelease(
  { release, commit, showsCode }: ReleaseView,
  project: Project,
  baseUrl: string,
  files: OwnObjects,
): z.output<typeof releaseShape> {
  const tag = encodeURIComponent(release.tag)
  const links = release.links.map((each) => presentReleaseLink(each, release.tag, project, baseUrl, files))
  const sources = sourceArchives(project, release.tag, baseUrl)
  const path = `/${project.pathWithNamespace}/-`
  return {
    tag_name: release.tag,
    name: release.name,
    description: release.description,
    created_at: release.createdAt,
    released_at: release.releasedAt,
    upcoming_release: release.releasedAt.getTime() > Date.now(),
    author: release.author && presentUser(release.author, baseUrl),
    ...(showsCode && {
      commit: commit && presentCommit(commit, project, baseUrl),
      ...(commit && { commit_path: `${path}/commit/${commit.id}` }),
      tag_path: `${path}/tags/${tag}`,
    }),
    assets: {
      count: links.length + (showsCode ? sources.length : 0),
      ...(showsCode && { sources }),
      links,
    },
    evidences: [],
    _links: { self: `${baseUrl}${path}/releases/${tag}` },
  }
}

/**
 * Returns a link in GitLab's shape. `direct_asset_url` stays the same when the address of the link changes.
 */
export const presentReleaseLink = (
  { id, name, url, filePath, linkType }: ReleaseLink,
  tag: string,
  project: Project,
  baseUrl: string,
  files: OwnObjects,
): z.output<typeof releaseLinkShape> => {
  const file = files.get(url)
  return {
    id: Number(id),
    name,
    url,
    direct_asset_url:
      filePath === null
        ? url
        : `${baseUrl}/${project.pathWithNamespace}/-/releases/${encodeURIComponent(tag)}/downloads${filePath}`,
    link_type: linkType,
    ...(file && { size: file.size, sha256: file.oid }),
  }
}

/** Parameters of a link of a release. `filepath` is the older name of `direct_asset_path`. */
export const releaseLinkParameters = {
  name: filledText(),
  url: filledText(),
  direct_asset_path: optionalText(text()),
  filepath: optionalText(text()),
  link_type: optional(z.enum(releaseLinkTypes)),
}

type GivenLink = z.output<z.ZodObject<typeof releaseLinkParameters>>

/** Returns the changes of a link. Undefined: the field was not given. */
export const toLinkChanges = ({ name, url, direct_asset_path, filepath, link_type }: Partial<GivenLink>) => ({
  name,
  url,
  filePath: direct_asset_path ?? filepath,
  linkType: link_type,
})

export function toLinkFields({ name, url, ...given }: GivenLink): ReleaseLinkFields {
  const { filePath = null, linkType = 'other' } = toLinkChanges(given)
  return { name, url, filePath, linkType }
}
