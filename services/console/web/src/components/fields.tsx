import { type ComponentProps, type ReactNode, useId } from 'react'

const box =
  'w-full rounded-md border bg-panel px-2.5 py-1.5 text-ink placeholder:text-quiet disabled:opacity-60 aria-invalid:border-bad'

interface Labelled {
  label: string
  hint?: ReactNode
  /** The error of the value. */
  problem?: string | undefined
}

function useParts({ hint, problem }: Labelled) {
  const id = useId()
  const described = problem || hint ? `${id}-more` : undefined
  return { id, described, invalid: problem ? true : undefined }
}

function Frame({ label, hint, problem, id, children }: Labelled & { id: string; children: ReactNode }) {
  return (
    <div className="mb-3">
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {children}
      {(problem || hint) && (
        <div id={`${id}-more`} className={`mt-1 text-sm ${problem ? 'text-bad' : 'text-quiet'}`}>
          {problem ?? hint}
        </div>
      )}
    </div>
  )
}

export function TextField({
  label,
  hint,
  problem,
  className = '',
  ...props
}: Labelled & ComponentProps<'input'>) {
  const { id, described, invalid } = useParts({ label, hint, problem })
  return (
    <Frame label={label} hint={hint} problem={problem} id={id}>
      <input
        autoComplete="off"
        dir="auto"
        {...props}
        id={id}
        aria-describedby={described}
        aria-invalid={invalid}
        className={`${box} ${className}`}
      />
    </Frame>
  )
}

export function TextArea({
  label,
  hint,
  problem,
  className = '',
  ...props
}: Labelled & ComponentProps<'textarea'>) {
  const { id, described, invalid } = useParts({ label, hint, problem })
  return (
    <Frame label={label} hint={hint} problem={problem} id={id}>
      <textarea
        rows={4}
        dir="auto"
        {...props}
        id={id}
        aria-describedby={described}
        aria-invalid={invalid}
        className={`${box} ${className}`}
      />
    </Frame>
  )
}

export function SelectField({
  label,
  hint,
  problem,
  children,
  ...props
}: Labelled & ComponentProps<'select'>) {
  const { id, described, invalid } = useParts({ label, hint, problem })
  return (
    <Frame label={label} hint={hint} problem={problem} id={id}>
      <select {...props} id={id} aria-describedby={described} aria-invalid={invalid} className={box}>
        {children}
      </select>
    </Frame>
  )
}

export function CheckboxField({ label, ...props }: { label: string } & ComponentProps<'input'>) {
  return (
    <label className="mb-1.5 flex items-center gap-2 text-sm">
      <input {...props} type="checkbox" className="size-4 shrink-0 accent-accent" />
      {label}
    </label>
  )
}

/** A small select for filters, whose label is only for screen readers. */
export function FilterSelect({
  label,
  value,
  onChange,
  options,
  all,
}: {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
  options: readonly (string | { value: string; label: string })[]
  /** Name of the choice without a filter. */
  all: string
}) {
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value || undefined)}
      className="min-h-8 max-w-48 rounded-md border bg-panel px-2 py-1 text-sm"
    >
      <option value="">{all}</option>
      {options.map((option) => {
        const { value, label } = typeof option === 'string' ? { value: option, label: option } : option
        return (
          <option key={value} value={value}>
            {label}
          </option>
        )
      })}
    </select>
  )
}
