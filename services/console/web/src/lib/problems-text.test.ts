import { expect, it } from 'vitest'
import { problemsText } from './problems-text'

it.each([
  [{ freeze: ['is off, and nothing else is set'] }, 'freeze is off, and nothing else is set'],
  [
    { ratio_min: ['must be a number', 'is odd'], name: ["can't be blank"] },
    "ratio min must be a number; is odd; name can't be blank",
  ],
  [{ sha: ['The commit does not exist'] }, 'sha: The commit does not exist'],
  [['Name has already been taken'], 'Name has already been taken'],
  ['403 Forbidden - Not today', '403 Forbidden - Not today'],
  [undefined, ''],
])('the refusal %j reads: %s', (value, text) => {
  expect(problemsText(value)).toBe(text)
})
