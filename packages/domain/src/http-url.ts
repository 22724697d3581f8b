/** The URL parser ignores line breaks and tabs, but pages that show the link may not, so control characters are refused. */
export const isHttpUrl = (text: string): boolean => /^https?:\/\/\P{Cc}+$/iu.test(text) && URL.canParse(text)
