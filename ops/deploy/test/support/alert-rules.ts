import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

export interface Rule {
  /** Name of the alert; undefined for a recording rule. */
  alert?: string
  record?: string
  expr: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

const folder = resolve(import.meta.dirname, '../../prometheus')

export const ruleFiles = readdirSync(folder)
  .filter((name) => name.endsWith('.rules.yml'))
  .map((name) => join(folder, name))

export const rules: Rule[] = ruleFiles.flatMap((file) => {
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }
  return groups.flatMap((group) => group.rules)
})

export const alerts = rules.filter((rule): rule is Rule & { alert: string } => rule.alert !== undefined)
