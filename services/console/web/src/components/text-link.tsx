import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import { buttonClass, type Look } from './button'

const Anchor = ({ className = '', ...props }: ComponentProps<'a'>) => (
  <a {...props} className={`text-accent hover:underline ${className}`} />
)

/** A link within the console. */
export const TextLink = createLink(Anchor)

const ButtonAnchor = ({ look, className = '', ...props }: ComponentProps<'a'> & { look?: Look }) => (
  <a {...props} className={`${buttonClass(look)} ${className}`} />
)

/** A link within the console that looks like a button. */
export const ButtonLink = createLink(ButtonAnchor)
