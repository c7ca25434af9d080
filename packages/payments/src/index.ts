export { InvalidSignature, type PaymentEvent, type Payments, PaymentsUnreachable } from './payments.ts';
