import { textOf } from '../../../components/action-dialog'
import { CheckboxField, SelectField, TextField } from '../../../components/fields'
import { Empty } from '../../../components/states'
import type { ProtectedBranch, ProtectedTag } from '../../../generated/types.gen'
import { roleNames } from '../project-data'
import { useProjectPath } from '../project-frame'
import { ResourcePanel } from '../resource-panel'

const levels = [40, 30, 0]

const LevelField = ({ label }: { label: string }) => (
  <SelectField label={label} name="level" defaultValue={40}>
    {levels.map((level) => (
      <option key={level} value={level}>
        {nameOfLevel(level)}
      </option>
    ))}
  </SelectField>
)

/** Returns the name of a level. A protection permits a role and all higher ones. */
const nameOfLevel = (level: number) => (level === 0 ? roleNames[0] : `${roleNames[level]}s and above`)

const Pattern = ({ text }: { text: string }) => (
  <code dir="auto" className="font-mono text-[13px]">
    {text}
  </code>
)

export const ProtectedBranchesPanel = ({ mayChange }: { mayChange: boolean }) => (
  <ResourcePanel<ProtectedBranch>
    name="Protected branches"
    address={`${useProjectPath()}/protected_branches`}
    rowKey={({ name }) => name}
    empty={<Empty title="No branch is protected: every developer may push to each." />}
    columns={[
      { header: 'Branch', cell: ({ name }) => <Pattern text={name} /> },
      {
        header: 'May push',
        cell: ({ push_access_levels }) =>
          push_access_levels.map(({ access_level }) => nameOfLevel(access_level)).join(', '),
      },
      { header: 'Force push', cell: ({ allow_force_push }) => (allow_force_push ? 'Allowed' : 'Refused') },
    ]}
    add={
      mayChange
        ? {
            title: 'Protect a branch',
            fields: (
              <>
                <TextField
                  label="Branch"
                  name="name"
                  required
                  maxLength={255}
                  className="font-mono text-sm"
                  hint="A name, or a pattern such as release/*"
                />
                <LevelField label="May push" />
                <CheckboxField label="Allow force push" name="force" />
              </>
            ),
            bodyOf: (form) => ({
              name: textOf(form, 'name'),
              push_access_level: Number(textOf(form, 'level')),
              allow_force_push: form.get('force') !== null,
            }),
          }
        : undefined
    }
    remove={
      mayChange
        ? {
            action: 'Unprotect',
            nameOf: ({ name }) => name,
            idOf: ({ name }) => name,
            effect: 'Every developer may then push to it, rewrite it and delete it.',
          }
        : undefined
    }
  />
)

export const ProtectedTagsPanel = ({ mayChange }: { mayChange: boolean }) => (
  <ResourcePanel<ProtectedTag>
    name="Protected tags"
    address={`${useProjectPath()}/protected_tags`}
    rowKey={({ name }) => name}
    empty={<Empty title="No tag is protected: every developer may make and delete tags." />}
    columns={[
      { header: 'Tag', cell: ({ name }) => <Pattern text={name} /> },
      {
        header: 'May create',
        cell: ({ create_access_levels }) =>
          create_access_levels.map(({ access_level }) => nameOfLevel(access_level)).join(', '),
      },
    ]}
    add={
      mayChange
        ? {
            title: 'Protect a tag',
            fields: (
              <>
                <TextField
                  label="Tag"
                  name="name"
                  required
                  maxLength={255}
                  className="font-mono text-sm"
                  hint="A name, or a pattern such as v*"
                />
                <LevelField label="May create" />
              </>
            ),
            bodyOf: (form) => ({
              name: textOf(form, 'name'),
              create_access_level: Number(textOf(form, 'level')),
            }),
          }
        : undefined
    }
    remove={
      mayChange
        ? {
            action: 'Unprotect',
            nameOf: ({ name }) => name,
            idOf: ({ name }) => name,
            effect: 'Every developer may then make and delete such tags.',
          }
        : undefined
    }
  />
)
