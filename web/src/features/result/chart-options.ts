import type { EChartsCoreOption } from 'echarts/core'

import { locale } from '~/i18n'
import { unitWord } from '~/i18n/units'
import type { Theme } from '~/theme'
import type { Hints } from './hints'
import type { Series } from './series'
import { label, number, short } from './words'

/** Lines told apart in both themes, also by people who do not see all colours; decals help further. */
const LINES: Record<Theme, string[]> = {
  light: ['#4338ca', '#b45309', '#0f766e', '#be185d', '#475569', '#7c3aed'],
  dark: ['#a5a0ff', '#f0b759', '#5ad1c0', '#f59ac4', '#a5adbb', '#c4b5fd'],
}
const INKS = {
  light: { text: '#161a22', muted: '#555d6b', line: '#d5d9e0', ground: '#ffffff' },
  dark: { text: '#e8ebf1', muted: '#a5adbb', line: '#333a47', ground: '#11141a' },
}

/** Labels longer than this do not fit under a bar, so the bars lie down. */
const LABEL_FITS = 12
const LABEL_WIDTH = 110

export interface Drawing {
  series: Series
  /** What is known about one row. */
  hints: Hints
  theme: Theme
  currency?: string
  /** What a screen reader says. */
  description: string
}

/** A line or bar chart. */
export function axes(kind: 'line' | 'bar', drawing: Drawing): EChartsCoreOption {
  const { series, hints, theme, currency } = drawing
  const ink = INKS[theme]
  const units = new Set(series.lines.map(({ key }) => hints.below(key).hint.unit))
  const lying = kind === 'bar' && series.categories.some((name) => name.length > LABEL_FITS)
  const unit = units.size === 1 ? [...units][0] : undefined
  const names = {
    type: 'category',
    data: words(series, hints),
    inverse: lying,
    boundaryGap: kind === 'bar',
    axisLabel: {
      color: ink.muted,
      ...(lying
        ? { width: LABEL_WIDTH, overflow: 'break', lineHeight: 14 }
        : { hideOverlap: true }),
    },
    axisLine: { lineStyle: { color: ink.muted }, onZero: false },
    axisTick: { show: false },
    name: series.x && !lying ? label(series.x, hints.below(series.x).hint) : undefined,
    nameLocation: 'middle',
    nameGap: 30,
    nameTextStyle: { color: ink.muted },
  }
  const values = {
    type: 'value',
    axisLabel: { color: ink.muted, formatter: (value: number) => short(value) },
    splitLine: { lineStyle: { color: ink.line } },
    name: unit && axisUnit(unit, currency),
    nameTextStyle: { color: ink.muted, align: lying ? 'center' : 'left' },
    nameLocation: lying ? 'middle' : 'end',
    nameGap: lying ? 28 : 14,
  }
  const several = series.lines.length > 1
  const grid = { left: 8, right: 16, bottom: 28, containLabel: true }
  const option = {
    ...common(drawing, series.lines.length),
    xAxis: lying ? values : names,
    yAxis: lying ? names : values,
    series: series.lines.map(({ key, values }, index) => ({
      type: kind,
      name: label(key, hints.below(key).hint),
      data: values,
      color: colour(theme, index),
      // Lines are told apart by their dashes and points, too.
      lineStyle: { width: 2.5, type: index === 0 ? 'solid' : index === 1 ? 'dashed' : 'dotted' },
      symbol: ['circle', 'rect', 'triangle', 'diamond'][index % 4],
      symbolSize: 7,
      sampling: 'lttb',
      showSymbol: values.length <= 40,
      barMaxWidth: 36,
      tooltip: { valueFormatter: (value: unknown) => told(value, key, hints, currency) },
    })),
  }
  const narrowTop = 36 + LEGEND_LINE * series.lines.length
  return byWidth(
    option,
    { grid: { ...grid, top: several ? 56 : 32 } },
    { grid: { ...grid, top: several ? narrowTop : 32 } },
  )
}

/** A radar: one corner per category, one area per line. */
export function radar(drawing: Drawing, bounds: { min?: number; max?: number }): EChartsCoreOption {
  const { series, hints, theme, currency } = drawing
  const ink = INKS[theme]
  const all = series.lines.flatMap(({ values }) => values).filter((value) => value !== null)
  const max = bounds.max ?? Math.max(...all, 0)
  const min = bounds.min ?? Math.min(...all, 0)
  const option = {
    ...common(drawing, series.lines.length),
    tooltip: { ...tooltip(theme), trigger: 'item' },
    radar: {
      center: ['50%', '54%'],
      // A radar without extent cannot be drawn.
      indicator: words(series, hints).map((name) => ({
        name,
        min,
        max: max > min ? max : min + 1,
      })),
      axisName: { color: ink.text, width: 76, overflow: 'break' },
      splitLine: { lineStyle: { color: ink.line } },
      axisLine: { lineStyle: { color: ink.line } },
      splitArea: { show: false },
    },
    series: [
      {
        type: 'radar',
        tooltip: {
          valueFormatter: (value: unknown) => {
            const key = series.lines[0]?.key ?? ''
            return told(value, key, hints, currency)
          },
        },
        data: series.lines.map(({ key, values }, index) => ({
          name: label(key, hints.below(key).hint),
          value: values.map((value) => value ?? min),
          symbol: ['circle', 'rect', 'triangle', 'diamond'][index % 4],
          symbolSize: 6,
          itemStyle: { color: colour(theme, index) },
          lineStyle: { color: colour(theme, index), width: 2, type: index ? 'dashed' : 'solid' },
          areaStyle: { color: colour(theme, index), opacity: index === 0 ? 0.25 : 0.05 },
        })),
      },
    ],
  }
  return byWidth(option, { radar: { radius: '70%' } }, { radar: { radius: '48%' } })
}

const NARROW = 480
const LEGEND_LINE = 22

/** On a narrow page the legend stands in a column, and the drawing makes room for it. */
function byWidth(
  baseOption: EChartsCoreOption,
  wide: EChartsCoreOption,
  narrow: EChartsCoreOption,
): EChartsCoreOption {
  return {
    baseOption,
    media: [
      {
        query: { maxWidth: NARROW },
        option: { ...narrow, legend: { orient: 'vertical', itemGap: 6 } },
      },
      { option: { ...wide, legend: { orient: 'horizontal', itemGap: 16 } } },
    ],
  }
}

function common({ theme, description }: Drawing, lines: number): EChartsCoreOption {
  const ink = INKS[theme]
  return {
    animation: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    animationDuration: 300,
    textStyle: { color: ink.text, fontFamily: getComputedStyle(document.body).fontFamily },
    aria: { enabled: true, label: { description }, decal: { show: lines > 1 } },
    legend: {
      show: lines > 1,
      top: 0,
      left: 0,
      textStyle: { color: ink.text },
      inactiveColor: ink.muted,
    },
    tooltip: { ...tooltip(theme), trigger: 'axis' },
  }
}

function tooltip(theme: Theme) {
  const ink = INKS[theme]
  return {
    // The other mode writes HTML, and names come from anybody.
    renderMode: 'richText',
    backgroundColor: ink.ground,
    borderColor: ink.line,
    textStyle: { color: ink.text, fontSize: 12 },
    confine: true,
  }
}

function colour(theme: Theme, index: number): string {
  const lines = LINES[theme]
  return lines[index % lines.length] ?? INKS[theme].text
}

function words({ x, categories }: Series, hints: Hints): string[] {
  if (!x) return categories
  const named = hints.below(x)
  return categories.map((category) => named.word(category) ?? category)
}

function axisUnit(unit: string, currency?: string): string | undefined {
  if (unit === 'currency') return currency
  if (unit === 'percent') return '%'
  return unit === 'points' ? undefined : unitWord(unit, locale())
}

function told(value: unknown, key: string, hints: Hints, currency?: string): string {
  return typeof value === 'number' ? number(value, hints.below(key).hint.unit, currency) : '–'
}
