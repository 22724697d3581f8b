export { contrastOfColors, readableColor } from './contrast.js'
export { type Piece, parseMarkdown } from './markdown.js'
