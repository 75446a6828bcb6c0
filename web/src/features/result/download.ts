/** Lets the browser save a text as a file. */
export function download(name: string, type: string, text: string) {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser has taken the file by the next turn.
  setTimeout(() => URL.revokeObjectURL(address), 1000)
}

/** A file name out of words, whatever they are. */
export function fileName(words: string[], ending: string): string {
  const name = words
    .join(' ')
    .normalize('NFKD')
    .replace(/[^\w]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .toLowerCase()
    .slice(0, 60)
  return `${name || 'result'}.${ending}`
}
