import '@testing-library/jest-dom/vitest'

import { loadTexts, startTexts } from '~/i18n'

const english = Object.keys(import.meta.glob('./i18n/en/*.json'))

await startTexts()
await loadTexts(english.map((file) => file.replace(/^.*\/(.*)\.json$/, '$1')))
