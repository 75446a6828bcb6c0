import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import type { LucideIconData } from 'lucide-react'
import iconImports from 'lucide-react/dynamicIconImports'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

import { TOOL_ICONS } from './src/kit/tool-icons'

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

const server = process.env.TOOLWRIGHT_URL ?? 'http://127.0.0.1:7420'

/** The icons of tools as files, for MCP clients, which show them outside this app. */
const iconFiles: Plugin = {
  name: 'icon-files',
  generateBundle() {
    for (const [name, icon] of Object.entries(TOOL_ICONS)) {
      const source = renderToStaticMarkup(createElement(icon))
      this.emitFile({ type: 'asset', fileName: `icons/${name}.svg`, source })
    }
  },
}

/** What is smaller gains nothing. */
const COMPRESSED_FROM = 1_000

/** Every script and style compressed as well as can be, once and for all, for the server to send as it is. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const [fileName, file] of Object.entries(bundle)) {
        const source = file.type === 'chunk' ? file.code : file.source
        if (!/\.(js|css)$/.test(fileName) || source.length < COMPRESSED_FROM) continue
        this.emitFile({
          type: 'asset',
          fileName: `${fileName}.br`,
          source: brotliCompressSync(source),
        })
      }
    },
  },
}

const ICONS = 'virtual:icons'

/** The name of every icon of Lucide, each with the names that it had before, for whoever looks for one. */
async function iconNames(): Promise<string[]> {
  const names = new Map<string, string[]>()
  for (const [name, load] of Object.entries(iconImports)) {
    const module = (await load()) as unknown as { __iconData: LucideIconData }
    const own = module.__iconData.name ?? name
    const others = names.get(own) ?? []
    names.set(own, name === own ? others : [...others, name])
  }
  return [...names].map(([name, others]) => [name, ...others].join(' ')).sort()
}

/** Every icon of Lucide as data, in a file for each letter: whoever shows a rare one loads a few kilobytes. */
const iconData: Plugin = {
  name: 'icon-data',
  resolveId: (id) => (id.startsWith(ICONS) ? `\0${id}` : undefined),
  async load(id) {
    if (!id.startsWith(`\0${ICONS}`)) return undefined
    const letter = id.split('/')[1]
    if (letter === 'names') return `export default ${JSON.stringify(await iconNames())}`
    if (!letter) {
      const letters = [...new Set(Object.keys(iconImports).map((name) => name.charAt(0)))]
      const loads = letters.map((letter) => `${letter}: () => import('${ICONS}/${letter}')`)
      return `export default { ${loads.join(', ')} }`
    }
    const loads = Object.entries(iconImports).filter(([name]) => name.startsWith(letter))
    const icons = loads.map(async ([name, load]) => {
      const module = (await load()) as unknown as { __iconData: LucideIconData }
      const { name: shown, size, node } = module.__iconData
      return [name, { name: shown, size, node }]
    })
    return `export default ${JSON.stringify(Object.fromEntries(await Promise.all(icons)))}`
  },
}

/** Menus and dialogs, which nobody opens in the first second. */
const MENUS =
  /node_modules\/(radix-ui|@radix-ui|@floating-ui|aria-hidden|react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-callback-ref|use-sidecar|detect-node-es|tslib)\//
const OF_EVERY_PAGE =
  /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-router|router-core|history|react-store|store|react-query|query-core)|use-sync-external-store|openapi-fetch|clsx|class-variance-authority|get-nonce|lucide-react)\//
const OUR_OWN =
  /\/web\/src\/(api\/(?!actor|events|run-tree|tool-at|unavailable)|kit\/(badge|button|cn|copy|field|kept|key-sheet|keys|lazy-part|level-badge|merge-classes|move-focus|not-loaded|now|page-keys|plain|search-box|server-back|states|time|title|toast|tool-icon|shipped-icons|wide)\.|shell\/(shell|frame|account|shortcuts|titled|page-not-loaded)\.|i18n\/(index|texts|server-words|en\/app)\.|features\/[^/]+\/(credentials\/)?(search|shelf|time-range)\.|(nonce|router|theme)\.)/

/** What the bundler adds by itself. */
const OF_BUNDLER = /^\0(vite\/|rolldown\/|virtual:icons$)/

/** The page that most people see first. */
const OF_FIRST_PAGE = /\/web\/src\/(pages\/library-page\.|features\/tools\/library-)/

/** The icons that the frame and the first page import, by their names in Lucide. */
const firstIcons = new Set<string>()
const sources = source('')
for (const name of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
  const path = `${sources}${name}`.replaceAll('\\', '/')
  if (!/\.tsx?$/.test(path) || !(OUR_OWN.test(path) || OF_FIRST_PAGE.test(path))) continue
  const imports = readFileSync(path, 'utf8').matchAll(/import \{([^}]*)\} from 'lucide-react'/g)
  for (const [, names = ''] of imports) {
    for (const icon of names.split(',')) firstIcons.add(icon.trim())
  }
}

const inPascalCase = (name: string) =>
  name.replace(/(^|-)(.)/g, (_, __, first: string) => first.toUpperCase())

/** The files of those: one icon may have several names. */
const firstIconFiles = new Set(
  Object.entries(iconImports)
    .filter(([name]) => firstIcons.has(inPascalCase(name)))
    .map(([, load]) => /icons\/([^/]+)\.m?js/.exec(String(load))?.[1]),
)

/** Other pages share a file of icons: small ones for each page compress badly. */
function isOfOtherIcons(id: string): boolean {
  const [, file] = /lucide-react\/dist\/esm\/icons\/([^/]+)\.m?js$/.exec(id) ?? []
  return file ? !firstIconFiles.has(file) : id.endsWith('/src/kit/tool-icons.ts')
}

function isOfMenus(id: string): boolean {
  return MENUS.test(id) || id.endsWith('/src/kit/dialog.tsx')
}

function isOfEveryPage(id: string): boolean {
  return OF_EVERY_PAGE.test(id) || OUR_OWN.test(id) || OF_BUNDLER.test(id)
}

/** The server takes requests from its own pages only. */
const toServer = { target: server, changeOrigin: true, headers: { origin: server } }

export default defineConfig({
  plugins: [react(), tailwindcss(), iconFiles, iconData, compressed],
  resolve: {
    alias: [
      { find: '~', replacement: source('.') },
      // What the form library has and our forms do not use is a third of it.
      { find: 'markdown-to-jsx/react', replacement: source('features/form/library/markdown.ts') },
      {
        find: '../getDefaultRegistry.js',
        replacement: source('features/form/library/registry.ts'),
      },
      {
        find: /^@x0k\/json-schema-merge(\/.*)?$/,
        replacement: source('features/form/library/merge.ts'),
      },
      { find: 'fast-uri', replacement: source('features/form/library/addresses.ts') },
    ],
  },
  build: {
    outDir: 'dist',
    // Every file but the page carries its own hash, so the server lets browsers keep it for ever.
    assetsDir: 'assets',
    sourcemap: false,
    // Every browser that runs the app preloads modules by itself.
    modulePreload: { polyfill: false },
    // A data: address would need a hole in the content security policy.
    assetsInlineLimit: 0,
    // Every file is a request with its own headers, and small ones compress badly: what every page needs is one file,
    // with the icons of the first page, what menus and dialogs need is another, and the other icons are a third. The
    // rest comes with the page that shows it.
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'icons', test: isOfOtherIcons, priority: 3 },
            { name: 'menus', test: isOfMenus, priority: 2 },
            { name: 'base', test: isOfEveryPage, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '^/api/(?!docs$)': toServer, '^/docs/.+\\.(md|json)$': toServer },
  },
  test: {
    environment: 'happy-dom',
    globals: true,
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test-setup.ts'],
    // With the parts that take the place of its own.
    server: { deps: { inline: [/@rjsf/] } },
    // A busy machine is slow, not wrong.
    testTimeout: 30_000,
  },
})
