import {
  button,
  delay,
  email,
  exit,
  onBranch,
  onEvent,
  onTimeout,
  ownEvent,
  paragraph,
  path,
  type Starter,
  send,
  wait,
} from './parts.ts';

const welcome: Starter = {
  id: 'welcome',
  name: 'Welcome',
  about: 'Greets new contacts, and helps those who have not started after 3 days.',
  eventName: 'user.signup',
  emails: {
    hello: email(
      'Welcome',
      'Welcome, {{ firstName ?? "there" }}',
      'Your first step',
      paragraph('Thanks for signing up. Here is the one thing to do first:'),
      button('Get started'),
      paragraph('Questions? Reply to this email.'),
    ),
    help: email(
      'Welcome: need a hand?',
      'Need a hand getting started?',
      'Most questions have a short answer',
      paragraph('You signed up a few days ago and have not started yet. What is in your way?'),
      paragraph('Reply to this email and tell us, or pick up where you left off.'),
      button('Continue'),
    ),
  },
  steps: [
    send('hello', 'Welcome email'),
    wait('started', 'Wait for the first step', 'user.activated', 3, ownEvent('when a contact has started')),
    exit('active', 'Started', 'started'),
    send('help', 'Offer help'),
  ],
  paths: [
    path('trigger', 'hello'),
    path('hello', 'started'),
    onEvent('started', 'active'),
    onTimeout('started', 'help'),
  ],
};

const trialEnding: Starter = {
  id: 'trial-ending',
  name: 'Trial ending',
  about: 'Reminds contacts 3 days before a 14-day trial ends, and once after it.',
  eventName: 'trial.started',
  emails: {
    soon: email(
      'Trial ends in 3 days',
      'Your trial ends in 3 days',
      'Choose a plan to keep going',
      paragraph('Your trial ends in 3 days. Choose a plan to keep using your account.'),
      button('Choose a plan'),
      paragraph('Not sure which plan fits? Reply to this email.'),
    ),
    over: email(
      'Trial has ended',
      'Your trial has ended',
      'You can still choose a plan',
      paragraph('Your trial has ended. You can still choose a plan and continue.'),
      button('Choose a plan'),
      paragraph('If it was not the right fit, reply and tell us why. It helps us.'),
    ),
  },
  steps: [
    wait(
      'early',
      'Wait until day 11',
      'subscription.started',
      11,
      `For a trial of 14 days. ${ownEvent('when a contact buys a plan')}`,
    ),
    send('soon', 'Three days left'),
    wait('late', 'Wait until the trial ends', 'subscription.started', 3, 'The last 3 days of the trial.'),
    send('over', 'Trial ended'),
    exit('customer', 'Customer', 'subscribed to a plan'),
  ],
  paths: [
    path('trigger', 'early'),
    onEvent('early', 'customer'),
    onTimeout('early', 'soon'),
    path('soon', 'late'),
    onEvent('late', 'customer'),
    onTimeout('late', 'over'),
  ],
};

const winBack: Starter = {
  id: 'win-back',
  name: 'Win-back',
  about: 'Writes to contacts who stopped coming, and asks for feedback after 14 days.',
  eventName: 'user.inactive',
  emails: {
    missed: email(
      'Win-back: it has been a while',
      'It’s been a while',
      'Your account is still here',
      paragraph('We have not seen you for a while. Your account is as you left it.'),
      button('Open your account'),
    ),
    feedback: email(
      'Win-back: feedback',
      'What could we do better?',
      'One question',
      paragraph('You have not been back, and we would like to know why. What was missing?'),
      paragraph('Reply to this email. We won’t send another reminder.'),
    ),
  },
  steps: [
    send('missed', 'It has been a while'),
    wait('back', 'Wait for a return', 'user.active', 14, ownEvent('when a contact comes back')),
    exit('returned', 'Returned', 'came back'),
    send('feedback', 'Ask for feedback'),
  ],
  paths: [
    path('trigger', 'missed'),
    path('missed', 'back'),
    onEvent('back', 'returned'),
    onTimeout('back', 'feedback'),
  ],
};

const rePermission: Starter = {
  id: 're-permission',
  name: 'Re-permission',
  about: 'Asks inactive contacts if they still want your emails, and unsubscribes those who do not answer.',
  eventName: 'user.inactive',
  emails: {
    ask: email(
      'Re-permission: stay subscribed?',
      'Do you still want our emails?',
      'Click once to stay subscribed',
      paragraph('We only write to people who want to hear from us. To keep getting our emails, click the button.'),
      button('Keep sending me emails'),
      paragraph('If you do nothing, we’ll unsubscribe you in 14 days.'),
    ),
  },
  steps: [
    send('ask', 'Ask for permission', 'Let the button lead to a page that thanks for the answer.'),
    wait(
      'answer',
      'Wait for a click',
      'email.click',
      14,
      'Needs click tracking. A click in any of your emails counts.',
    ),
    exit('stays', 'Stays subscribed', 'still wants emails'),
    {
      id: 'unsubscribe',
      type: 'UPDATE_CONTACT',
      name: 'Unsubscribe',
      config: { updates: {}, subscriptionAction: 'unsubscribe' },
    },
  ],
  paths: [
    path('trigger', 'ask'),
    path('ask', 'answer'),
    onEvent('answer', 'stays'),
    onTimeout('answer', 'unsubscribe'),
  ],
};

const nps: Starter = {
  id: 'nps',
  name: 'NPS survey',
  about: 'Asks for a score 30 days after sign-up, then follows up by the answer.',
  eventName: 'user.signup',
  emails: {
    survey: email(
      'NPS: survey',
      'How likely are you to recommend us?',
      'One question, from 0 to 10',
      paragraph('From 0 to 10, how likely are you to recommend us to a colleague? It takes 10 seconds.'),
      button('Answer'),
    ),
    thanks: email(
      'NPS: thank you',
      'Thank you',
      'Would you tell others?',
      paragraph('Thank you for the score. Would you write a short review? It helps others decide.'),
      button('Write a review'),
    ),
    improve: email(
      'NPS: what should we improve?',
      'What should we improve?',
      'Your answer is read by a person',
      paragraph('Thank you for the score. What is the one thing that we should improve?'),
      paragraph('Reply to this email. A person reads every answer.'),
    ),
  },
  steps: [
    delay('month', 'Wait 30 days', 30),
    send('survey', 'Send the survey', 'Let the button lead to your survey.'),
    wait('answer', 'Wait for the answer', 'nps.answered', 14, ownEvent('when a contact answers')),
    {
      id: 'score',
      type: 'CONDITION',
      name: 'Promoter?',
      config: { field: 'data.npsScore', operator: 'greaterThanOrEqual', value: 9 },
      note: 'Save the score as the contact’s npsScore before you track the answer.',
    },
    send('thanks', 'Ask for a review'),
    send('improve', 'Ask what to improve'),
    exit('silent', 'No answer', 'no answer'),
  ],
  paths: [
    path('trigger', 'month'),
    path('month', 'survey'),
    path('survey', 'answer'),
    onEvent('answer', 'score'),
    onTimeout('answer', 'silent'),
    onBranch('yes', 'score', 'thanks'),
    onBranch('no', 'score', 'improve'),
  ],
};

/** The workflows that a new one can begin with. */
export const starters: readonly Starter[] = [welcome, trialEnding, winBack, rePermission, nps];
