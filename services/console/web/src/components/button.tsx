import type { ComponentProps } from 'react'

const looks = {
  plain: 'border bg-panel text-ink hover:bg-raised',
  primary: 'border border-transparent bg-accent text-on-accent hover:opacity-90',
  danger: 'border border-transparent bg-bad text-panel hover:opacity-90',
  quiet: 'border border-transparent text-accent hover:bg-raised',
}

export type Look = keyof typeof looks

export const buttonClass = (look: Look = 'plain') =>
  `inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md px-3 py-1 text-sm font-medium whitespace-nowrap disabled:cursor-not-allowed disabled:opacity-50 ${looks[look]}`

export const Button = ({ look, className = '', ...props }: ComponentProps<'button'> & { look?: Look }) => (
  <button type="button" {...props} className={`${buttonClass(look)} ${className}`} />
)
