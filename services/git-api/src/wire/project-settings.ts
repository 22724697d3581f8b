import { flag, parameterProblem, text, unsupported } from '@switchyard/service-kit/http'
import { z } from 'zod'
import {
  featureSwitches,
  projectSettings,
  type Setting,
  type SettingKind,
  type SettingValues,
  settingAliases,
  shownSettings,
} from '../project-settings.js'

const textLengthMax = 10_000

/** PostgreSQL's integers. */
const countMax = 2_147_483_647

function schemaOf(kind: SettingKind): z.ZodType<Setting['value']> {
  if (kind === 'flag') return flag()
  if (kind === 'count') return z.preprocess(wholeNumber, z.int().min(0).max(countMax))
  if (kind === 'text') return text(textLengthMax)
  return z.enum(kind as [string])
}

const wholeNumber = (value: unknown) =>
  typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value

/** A setting as a parameter that may be left out. Null: as at the beginning. */
export const settingParameter = (kind: SettingKind, description: string) =>
  schemaOf(kind).nullish().meta({ description })

const kept =
  'Kept and shown, and without effect: see the documentation of projects. Null: as at the beginning'

/** The settings of GitLab's projects as parameters, each of which may be left out. */
export const settingParameters: Record<string, z.ZodType<Setting['value'] | undefined>> = Object.fromEntries([
  ...Object.entries(projectSettings).map(([name, { kind }]) => [name, settingParameter(kind, kept)]),
  ...Object.entries(featureSwitches).map(([name, level]) => [
    name,
    settingParameter('flag', `False: \`${level}\` becomes disabled`),
  ]),
  ...Object.entries(settingAliases).map(([alias, { name, opposite }]) => [
    alias,
    settingParameter('flag', opposite ? `The opposite of \`${name}\`` : `The same as \`${name}\``),
  ]),
])

/**
 * The settings that parameters change. Null: back to the value that it has at the beginning.
 *
 * @param stored the settings of the project as they are stored
 * @throws DomainError invalid-parameters for two that contradict each other
 */
export function readSettings(given: Given, stored: unknown): SettingValues | undefined {
  const current = shownSettings(stored)
  const asked = [...namedIn(given), ...switchesIn(given, current), ...aliasesIn(given)]
  const changes = asked.filter(([name, value]) => (value ?? projectSettings[name]?.value) !== current[name])
  return changes.length > 0 ? Object.fromEntries(changes) : undefined
}

type Given = Record<string, unknown>
type Asked = [name: string, value: Setting['value']]

const namedIn = (given: Given): Asked[] =>
  Object.keys(projectSettings).flatMap((name) =>
    given[name] === undefined ? [] : [[name, given[name] as Setting['value']]],
  )

function switchesIn(given: Given, current: SettingValues): Asked[] {
  return Object.entries(featureSwitches).flatMap(([name, level]): Asked[] => {
    const isOn = given[name]
    const asked = given[level] ?? undefined
    if (typeof isOn !== 'boolean') return []
    if (asked !== undefined && (asked !== 'disabled') !== isOn) throw contradiction(name, level)
    // A feature that is on keeps those who see it.
    return asked !== undefined || current[name] === isOn ? [] : [[level, isOn ? 'enabled' : 'disabled']]
  })
}

function aliasesIn(given: Given): Asked[] {
  return Object.entries(settingAliases).flatMap(([alias, { name, opposite }]): Asked[] => {
    const value = given[alias]
    if (typeof value !== 'boolean') return []
    const meant = value !== opposite
    if (typeof given[name] === 'boolean' && given[name] !== meant) throw contradiction(alias, name)
    return [[name, meant]]
  })
}

const contradiction = (name: string, other: string) => parameterProblem(name, `contradicts ${other}`)

/** What GitLab takes for projects and Switchyard cannot do, with the reason. */
const refusals: Record<string, string> = {
  avatar: 'projects have no pictures',
  ci_id_token_sub_claim_components: 'there are no jobs that get tokens',
  container_expiration_policy_attributes: 'there is no container registry',
  group_with_project_templates_id: 'there are no templates of projects',
  import_url: 'projects are not imported; push the repository',
  mirror: 'repositories are not mirrored',
  mirror_branch_regex: 'repositories are not mirrored',
  mirror_overwrites_diverged_branches: 'repositories are not mirrored',
  mirror_trigger_builds: 'repositories are not mirrored',
  mirror_user_id: 'repositories are not mirrored',
  only_mirror_protected_branches: 'repositories are not mirrored',
  repository_storage: 'POST /projects/:id/repository_storage_moves moves a repository',
  template_name: 'there are no templates of projects',
  template_project_id: 'there are no templates of projects',
  use_custom_template: 'there are no templates of projects',
}

/** Parameters that are refused by name with a reason, unless they switch off what does not exist. */
export const refusedParameters = (reasons: Record<string, string>): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(reasons).map(([name, reason]) => [
      name,
      unsupported(`is not supported: ${reason}`, 'false', '0'),
    ]),
  )

export const refusedProjectParameters = refusedParameters(refusals)
