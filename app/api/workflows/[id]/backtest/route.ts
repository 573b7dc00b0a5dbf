import { serve } from '@/server/rest/serve'
import { BACKTEST_ENDPOINTS } from '@/server/runs/backtest/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(BACKTEST_ENDPOINTS.backtestWorkflow)
