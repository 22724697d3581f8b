import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Button } from '../../../components/button'
import { SelectField, TextArea, TextField } from '../../../components/fields'
import { sentenceOf } from '../../../components/states'
import { useProjectPath } from '../project-frame'
import { type Change, type Kind, loadFile } from './changes'

const kindNames: Record<Kind, string> = {
  write: 'Add or edit a file',
  move: 'Move or rename a file',
  delete: 'Delete a file',
}

/** The fields of a change in the form. When the path of an existing file is typed, its text is loaded. */
export function ChangeFields({
  change,
  title,
  baseRef,
  onChange,
  onRemove,
}: {
  change: Change
  title: string
  /** The branch on which the change is based; undefined when the repository is empty. */
  baseRef: string | undefined
  onChange: (part: Partial<Change>) => void
  /** Unset for the only change. */
  onRemove: (() => void) | undefined
}) {
  const { kind, path, previousPath, content, loaded } = change
  const [problem, load] = useLoading(change, baseRef, onChange)
  return (
    <fieldset className="mb-4 rounded-lg border bg-panel p-4">
      <legend className="sr-only">{title}</legend>
      <div className="mb-3 flex items-center gap-3">
        <h2 className="flex-1 font-semibold">{title}</h2>
        {onRemove && <Button onClick={onRemove}>Remove this change</Button>}
      </div>
      <div className="grid gap-x-4 sm:grid-cols-2">
        <SelectField
          label="Change"
          value={kind}
          onChange={(event) => onChange({ kind: event.target.value as Kind })}
        >
          {Object.entries(kindNames).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </SelectField>
        {kind === 'move' && (
          <TextField
            label="Old path"
            required
            value={previousPath}
            className="font-mono text-sm"
            onChange={(event) => onChange({ previousPath: event.target.value })}
          />
        )}
        <TextField
          label="File path"
          required
          value={path}
          placeholder="docs/guide.md"
          className="font-mono text-sm"
          problem={problem}
          onChange={(event) => onChange({ path: event.target.value })}
          onBlur={() => {
            if (kind === 'write' && content === '') void load()
          }}
        />
      </div>
      {kind === 'write' && (
        <TextArea
          label="Content"
          rows={16}
          dir="ltr"
          spellCheck={false}
          value={content}
          className="font-mono text-[13px] leading-5"
          hint={
            loaded?.path === path ? 'This is the file as the branch has it, with your changes.' : undefined
          }
          onChange={(event) => onChange({ content: event.target.value })}
        />
      )}
    </fieldset>
  )
}

function useLoading(change: Change, ref: string | undefined, onChange: (part: Partial<Change>) => void) {
  const client = useQueryClient()
  const project = useProjectPath()
  const [problem, setProblem] = useState<string>()
  const [isBegun, setIsBegun] = useState(false)
  const load = async () => {
    if (ref === undefined) return
    setProblem(undefined)
    try {
      const file = await loadFile(client, project, ref, change.path)
      if (file) onChange(file)
    } catch (error) {
      setProblem(sentenceOf(error))
    }
  }
  // Loads the path in the address.
  useEffect(() => {
    if (isBegun) return
    setIsBegun(true)
    void load()
  })
  return [problem, load] as const
}
