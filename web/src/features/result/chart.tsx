import { BarChart, LineChart, RadarChart } from 'echarts/charts'
import {
  AriaComponent,
  GridComponent,
  LegendComponent,
  RadarComponent,
  TooltipComponent,
} from 'echarts/components'
import { type EChartsCoreOption, type EChartsType, init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { useEffect, useRef } from 'react'

use([
  BarChart,
  LineChart,
  RadarChart,
  GridComponent,
  RadarComponent,
  LegendComponent,
  TooltipComponent,
  AriaComponent,
  SVGRenderer,
])

/** Draws one chart, as wide as there is room. Heavy: import it lazily. */
export default function Chart({ option, height }: { option: EChartsCoreOption; height: number }) {
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<EChartsType>(null)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const made = init(element, undefined, { renderer: 'svg', height })
    chart.current = made
    const observer = new ResizeObserver(() => made.resize())
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.dispose()
      chart.current = null
    }
  }, [height])
  // Merging would keep lines that the new option no longer has.
  useEffect(() => chart.current?.setOption(option, { notMerge: true }), [option, height])
  return <div ref={box} style={{ height }} className="w-full min-w-0" />
}
