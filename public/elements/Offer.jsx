import { useState } from 'react';

// Buttons that can be pressed while an answer is under way, which Chainlit's own can't. Once one is pressed, what it
// says stands in their place. The component is kept in `window`, so that it stays pressed after an update.
const Offer = (window.repopilotOffer ||= function ({ props, callAction }) {
  const [chosen, setChosen] = useState('');
  const [failed, setFailed] = useState('');
  const press = async (choice, label) => {
    setChosen(label);
    const result = await callAction({ name: props.action, payload: { choice } });
    const error = result?.response?.error || (result?.success ? '' : props.words.no_answer);
    setFailed(error);
    if (error) setChosen('');
  };
  return (
    <section className="rp-row">
      {chosen && <strong>{chosen}</strong>}
      {!chosen && Object.entries(props.choices).map(([choice, label]) => (
        <button key={choice} className="rp-button" onClick={() => press(choice, label)}>{label}</button>
      ))}
      {failed && <div className="rp-error">{failed}</div>}
    </section>
  );
});

export default <Offer props={props} callAction={callAction} />;
