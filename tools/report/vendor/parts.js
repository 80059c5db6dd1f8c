// The parts of Apache ECharts that the report draws with; build.sh makes echarts.min.js of them.
import { use } from "echarts/core";
import { BarChart, CustomChart, LineChart } from "echarts/charts";
import {
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, CustomChart, LineChart]);
use([AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent]);
use([CanvasRenderer]);

export { graphic, init } from "echarts/core";
