import type { Caller } from '@switchyard/domain/access'
import {
  endpoint,
  filledText,
  ok,
  pathCharsMax,
  proseCharsMax,
  type Route,
  route,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { commitDetailShape, presentCommitDetail } from '../../shapes/commit.js'
import { optionalDay, optionalText } from '../../shapes/parameters.js'
import type { FileDependencies } from '../files/files.js'
import type { NotesQuery } from './changelog.js'
import * as changelog from './changelog.js'
import { isVersion } from './notes.js'

export function changelogRoutes(deps: FileDependencies): Route[] {
  const path = '/projects/:id/repository/changelog'
  return [
    route('GET', path, deps.guards.readCode, getChangelog),
    route('POST', path, deps.guards.pushCode, commitChangelog(deps)),
  ]
}

const nameCharsMax = 255

const notesFields = {
  version: filledText(nameCharsMax)
    .refine(isVersion, { error: 'is not a semantic version' })
    .meta({ description: 'Such as `1.2.0`, with or without `v` in front' }),
  from: optionalText(text()).meta({
    description: 'Branch, tag or hash, excluded; default: the tag of the last stable version below `version`',
  }),
  to: optionalText(text()).meta({ description: 'Branch, tag or hash, inclusive' }),
  date: optionalDay(),
  trailer: optionalText(text(nameCharsMax))
    .refine((name) => name === undefined || /^[A-Za-z0-9-]+$/.test(name), { error: 'is invalid' })
    .meta({ description: 'Default: `Changelog`' }),
  config_file: optionalText(text(pathCharsMax)).meta({
    description:
      'Has `categories`, `date_format`, `tag_regex` and `template`; `.gitlab/changelog_config.yml` by default',
  }),
  config_file_ref: optionalText(text()).meta({
    description: 'The revision from which `config_file` is read',
  }),
}

const notesInput = z.object(notesFields)

const queryOf = (fields: z.output<typeof notesInput>): NotesQuery => ({
  version: fields.version,
  from: fields.from,
  to: fields.to,
  date: fields.date,
  trailer: fields.trailer ?? 'Changelog',
  configFile: fields.config_file,
  configRef: fields.config_file_ref,
})

const getChangelog = endpoint({
  summary: 'Generate the changelog of a version from commit trailers',
  replies: { 200: z.object({ notes: z.string().meta({ description: 'Markdown' }) }) },
  refusals: [422],
  input: notesInput,
  async handle(fields, access: ProjectCall, call) {
    return ok({ notes: await changelog.writeNotes(access, queryOf(fields), call) })
  },
})

const commitChangelog = (deps: FileDependencies) =>
  endpoint({
    summary: 'Add the changelog of a version to a file with a commit',
    replies: { 200: commitDetailShape },
    refusals: [409, 422],
    input: z.object({
      ...notesFields,
      branch: optionalText(text()).meta({ description: 'Default: the default branch' }),
      file: optionalText(text(pathCharsMax)).meta({ description: 'Default: `CHANGELOG.md`' }),
      message: optionalText(text(proseCharsMax)).meta({ description: 'Message of the commit' }),
    }),
    async handle({ branch, file, message, ...fields }, access: ProjectCall<Caller>, call) {
      const command = {
        ...queryOf(fields),
        branch: branch ?? access.project.defaultBranch,
        file: file ?? 'CHANGELOG.md',
        message: message ?? `Add changelog for version ${fields.version}`,
      }
      const made = await changelog.commitNotes(deps, access, command, call)
      return ok(presentCommitDetail(made, access.project, call.baseUrl))
    },
  })
