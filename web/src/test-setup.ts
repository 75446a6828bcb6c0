import '@testing-library/jest-dom/vitest'

import { startTexts } from '~/i18n'

await startTexts()
