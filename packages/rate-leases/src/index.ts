export { LeasedRateLimit, type RateState, type RateWindow, type WindowStore } from './limiter.ts';
